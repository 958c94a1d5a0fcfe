import type { FailureCode } from "../domain/outcome.ts";
import { isOutOfFiles, readErrorCode } from "./error-code.ts";

/**
 * Why a connection failed, in our own words. It has no `code` on purpose: undici reconnects forever after an error with
 * the code UND_ERR_SOCKET or UND_ERR_INFO.
 */
export class ConnectFailure extends Error {
  readonly failure: FailureCode;

  constructor(failure: FailureCode, message: string) {
    super(message);
    this.failure = failure;
  }
}

const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT: "is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "is signed by an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another host",
};

export function describeLookupError(error: unknown, hostname: string): ConnectFailure {
  return readErrorCode(error) === "ENOTFOUND"
    ? new ConnectFailure("dns_failed", `No address found for host ${hostname}`)
    : new ConnectFailure("dns_failed", `The address of host ${hostname} could not be looked up`);
}

export function describeConnectError(error: unknown, hostname: string, protocol: string): ConnectFailure {
  if (error instanceof ConnectFailure) return error;
  const code = readErrorCode(error);
  if (code === "ETIMEDOUT") {
    return new ConnectFailure("connect_timeout", `Host ${hostname} did not accept the connection in time`);
  }
  if (code === "ECONNREFUSED") {
    return new ConnectFailure("connect_failed", `Host ${hostname} refused the connection`);
  }
  if (isOutOfFiles(code)) {
    return new ConnectFailure(
      "connect_failed",
      `Host ${hostname} was not called: this server has no file descriptor left (${code})`,
    );
  }
  if (protocol !== "https:" || isConnectSyscall(error)) {
    return new ConnectFailure("connect_failed", `Host ${hostname} could not be reached`);
  }
  if (code === "ECONNRESET" || code === "EPIPE") {
    return new ConnectFailure(
      "connection_reset",
      `Host ${hostname} closed the connection during the TLS handshake`,
    );
  }
  const fault = CERTIFICATE_FAULTS[code];
  return fault === undefined
    ? new ConnectFailure("tls_error", `No TLS connection could be agreed with host ${hostname}`)
    : new ConnectFailure("tls_error", `The certificate of host ${hostname} ${fault}`);
}

/** TCP failed, not the TLS handshake: only then is the host's next address worth a try. */
function isConnectSyscall(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "connect";
}
