/** No trusted authority has signed the certificate. */
const UNTRUSTED = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_UNTRUSTED",
  "INVALID_CA",
]);

/** Errors of the handshake, or of a file in DATABASE_URL. */
const OTHER_TLS = /^(ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$)/;

export interface TlsFailure {
  /** The failure, as the end of "answered, but …". */
  readonly what: string;
  readonly remedy: string;
}

/** Explains a TLS failure of a PostgreSQL that answered. Null for any other error. */
export function explainTlsFailure(error: unknown): TlsFailure | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error ? String(error.code) : "";
  if (UNTRUSTED.has(code))
    return {
      what: `its certificate is not trusted (${code})`,
      remedy:
        "Add sslrootcert=/path/to/ca.pem to DATABASE_URL, the certificate of the authority that signed it, or the server's own " +
        "if it is self-signed. Every sslmode but disable and no-verify checks the certificate; no-verify encrypts without knowing who answers.",
    };
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return {
      what: `its certificate ${code === "CERT_HAS_EXPIRED" ? "has expired" : "is not valid yet"} (${code})`,
      remedy: "Renew it on the database server, or set the clock of this machine.",
    };
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const reason = "reason" in error ? String(error.reason) : error.message;
    return {
      what: `its certificate is for another host: ${reason.replace(/\.$/, "")} (${code})`,
      remedy: "Let DATABASE_URL name a host that the certificate names, or replace the certificate.",
    };
  }
  // The driver's own words, without a code.
  if (code === "" && error.message === "The server does not support SSL connections")
    return {
      what: "it offers no TLS, and DATABASE_URL (or PGSSLMODE) asks for it",
      remedy:
        "Set ssl = on in its postgresql.conf, or sslmode=disable in DATABASE_URL where the network is safe.",
    };
  if (!OTHER_TLS.test(code)) return null;
  return {
    what: `TLS with it failed: ${error.message.trim()} (${code})`,
    remedy: "Correct sslmode, sslrootcert, sslcert and sslkey in DATABASE_URL, or the server's certificate.",
  };
}
