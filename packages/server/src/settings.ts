import { closestName } from "./domain/spelling.ts";
export interface Setting {
  readonly name: string;
  readonly fallback: string | null;
  /** One sentence, with the unit. The reference is generated from these. */
  readonly about: string;
  readonly secret?: true;
}

export const SETTINGS = {
  host: { name: "HOST", fallback: "127.0.0.1", about: "Address to listen on." },
  port: { name: "PORT", fallback: "8787", about: "Port to listen on; 0 selects a free one." },
  role: {
    name: "BELLHOP_ROLE",
    fallback: "all",
    about:
      "What this node does: api serves requests and makes no calls, worker makes calls and serves only /livez, /readyz, " +
      "/healthz and /metrics, all does both. api and worker need DATABASE_URL.",
  },
  databaseUrl: {
    name: "DATABASE_URL",
    fallback: null,
    about:
      "PostgreSQL (14 or newer) to use instead of the embedded one. Several replicated servers are separated by commas, " +
      "postgres://bellhop@a:5432,b:5432/bellhop: the writable one is used.",
    secret: true,
  },
  dataDir: {
    name: "BELLHOP_DATA_DIR",
    fallback: ".bellhop",
    about: "Directory of the embedded database and of generated keys.",
  },
  apiKey: {
    name: "BELLHOP_API_KEY",
    fallback: null,
    about: "The operator's API key, instead of a generated one: bh_live_ and at least 32 letters and digits.",
    secret: true,
  },
  ownerEmail: {
    name: "BELLHOP_OWNER_EMAIL",
    fallback: null,
    about: "Mail address that may sign in to the operator's own team, as its owner.",
  },
  sessionKeys: {
    name: "BELLHOP_SESSION_KEY",
    fallback: null,
    about:
      "Keys that sign session and access tokens, separated by commas, each of at least 32 characters; the first one " +
      "signs, all of them verify. Unset, Bellhop generates them, stores them in the database and replaces them monthly.",
    secret: true,
  },
  smtpUrl: {
    name: "BELLHOP_SMTP_URL",
    fallback: null,
    about:
      "Server that sends sign-in links and invitations: smtp://user:password@host:587, or smtps:// for TLS from the " +
      "start. Unset, BELLHOP_SIGN_IN_LINKS decides where links go.",
    secret: true,
  },
  mailFrom: {
    name: "BELLHOP_MAIL_FROM",
    fallback: null,
    about:
      "Sender of mails, such as Bellhop <bellhop@example.com>; bellhop@ and the host of the public address if unset.",
  },
  signUp: {
    name: "BELLHOP_SIGN_UP",
    fallback: null,
    about:
      "open: a person who signs in for the first time gets their own team. invited: only members and invited people can " +
      "sign in. Unset, it is invited on an exposed server and open otherwise.",
  },
  signInLinks: {
    name: "BELLHOP_SIGN_IN_LINKS",
    fallback: null,
    about:
      "Where sign-in links and invitations go without a mail server. log: to the log, so that every reader of the log can " +
      "sign in as any user. mail: nowhere; the operator creates links with `bellhop session link`. Unset, it is mail on an " +
      "exposed server and log otherwise.",
  },
  publicUrl: {
    name: "BELLHOP_PUBLIC_URL",
    fallback: null,
    about: "URL under which clients reach this server; `http://HOST:PORT` if unset.",
  },
  logLevel: {
    name: "LOG_LEVEL",
    fallback: "info",
    about: "One of fatal, error, warn, info, debug, trace, silent.",
  },
  retentionDays: {
    name: "BELLHOP_RETENTION_DAYS",
    fallback: "30",
    about: "Days that ended tasks are kept, 1 to 3650.",
  },
  maxInFlight: {
    name: "BELLHOP_MAX_IN_FLIGHT",
    fallback: "2000",
    about: "Maximum number of calls in flight of one server, shared evenly by its processes, 2 to 100000.",
  },
  processes: {
    name: "BELLHOP_PROCESSES",
    fallback: null,
    about:
      "Number of processes that share this server's port, 1 to 64; each is a node. Unset, one for every two cores and every GiB of " +
      "memory, at least 1 and at most 8; and 1 with DATABASE_URL, because each keeps up to 22 connections.",
  },
  freeSpaceBytes: {
    name: "BELLHOP_FREE_SPACE",
    fallback: "268435456",
    about:
      "Minimum free bytes on the disk of the embedded database, or of BELLHOP_DATABASE_LIMIT. Below that, new tasks are " +
      "answered 503 and ended ones are deleted after an hour; 0 disables the check.",
  },
  databaseLimitBytes: {
    name: "BELLHOP_DATABASE_LIMIT",
    fallback: "0",
    about: "Maximum size of the database of DATABASE_URL in bytes; 0 disables the check.",
  },
  planFree: {
    name: "BELLHOP_PLAN_FREE",
    fallback: null,
    about:
      "Limits of the plan free that replace the built-in ones, such as callsInFlight=50, queues=none. GET /v1/me shows the " +
      "names.",
  },
  planPro: { name: "BELLHOP_PLAN_PRO", fallback: null, about: "The same for the plan pro." },
  planEnterprise: {
    name: "BELLHOP_PLAN_ENTERPRISE",
    fallback: null,
    about:
      "The same for the plan enterprise, which has no limits unless they are set here or by bellhop team plan.",
  },
  bodyLimitBytes: {
    name: "BELLHOP_BODY_LIMIT",
    fallback: "1048576",
    about: "Largest request body accepted, in bytes, 1024 to 104857600.",
  },
  resultLimitBytes: {
    name: "BELLHOP_RESULT_LIMIT",
    fallback: "1048576",
    about:
      "Maximum stored bytes of the answer to a call, a poll or a result fetch, 1024 to 16777216; a longer answer is cut. " +
      "Callbacks are stored whole.",
  },
  stopGraceSeconds: {
    name: "BELLHOP_STOP_GRACE",
    fallback: "25",
    about: "Seconds that calls in flight have to finish when the server stops, 0 to 3600.",
  },
  allowUnsafeDatabase: {
    name: "BELLHOP_ALLOW_UNSAFE_DATABASE",
    fallback: "false",
    about: "true starts even on a database that may lose confirmed writes (for example with fsync off).",
  },
  egress: {
    name: "BELLHOP_EGRESS",
    fallback: null,
    about:
      "Allowed addresses of calls: public refuses loopback, private and reserved addresses and ports of other protocols; any " +
      "allows all. Unset, it is public on an exposed server and any otherwise.",
  },
  egressAllow: {
    name: "BELLHOP_EGRESS_ALLOW",
    fallback: null,
    about:
      "Exceptions that public allows, separated by commas: addresses (10.0.0.7), blocks (10.0.0.0/8) and host names " +
      "(api.example.com, *.example.com), each with or without a port (10.0.0.7:8080, [fd00::7]:8080).",
  },
  resolver: {
    name: "BELLHOP_RESOLVER",
    fallback: "dns",
    about:
      "Resolver for the host names of targets: dns uses the hosts file, then the system's DNS servers, without search " +
      "domains; system uses the system's resolver with search domains and mDNS, where a few slow names delay all calls.",
  },
  providersFile: {
    name: "BELLHOP_PROVIDERS_FILE",
    fallback: null,
    about:
      'JSON file { "providers": [...] } of further catalog entries, as GET /v1/providers shows them; one with the id ' +
      "of a built-in entry replaces it.",
  },
  trustProxy: {
    name: "BELLHOP_TRUST_PROXY",
    fallback: null,
    about:
      "Addresses or CIDRs of trusted proxies, separated by commas, whose X-Forwarded-For is used. Unset, the client is the " +
      "connecting address. Behind a proxy that is not listed, all clients share the limits of one address.",
  },
  metricsToken: {
    name: "BELLHOP_METRICS_TOKEN",
    fallback: null,
    about:
      "Token that a scraper of /metrics must send as Authorization: Bearer, at least 16 characters. Unset, /metrics answers 401 on an exposed server and " +
      "is public otherwise.",
    secret: true,
  },
  tracesUrl: {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    fallback: null,
    about:
      "Collector that receives traces, by OTLP over HTTP with JSON. Needs packages that Bellhop does not include: see " +
      "[traces](metrics.md#traces). Unset, tracing is off.",
  },
  vaultKeys: {
    name: "BELLHOP_VAULT_KEYS",
    fallback: null,
    about:
      "Keys of the token vault: id:key, separated by commas, each key 32 bytes in base64; the first one encrypts, all of " +
      "them decrypt. Unset, one is generated in the data directory; with DATABASE_URL, or set to off, the vault is disabled.",
    secret: true,
  },
} as const satisfies Record<string, Setting>;

/** Variables of client programs, which may be set in the server's shell. `BELLHOP_API_KEY` is a setting too. */
export const CLIENT_VARIABLES = ["BELLHOP_URL", "BELLHOP_SIGNING_SECRET"];

/** The closest known setting to a misspelled name. Some settings have no prefix, and the operator may have added one. */
export function closestSetting(name: string): string | undefined {
  const known = Object.values(SETTINGS).map((setting) => setting.name);
  const bare = known.filter((each) => !each.startsWith("BELLHOP_"));
  return closestName(name, known) ?? closestName(name.replace("BELLHOP_", ""), bare);
}
