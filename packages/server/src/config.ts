import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { closestName } from "./domain/spelling.ts";
import { parseAllowEntry } from "./outbound/egress-allow.ts";
import { chooseEgressPolicy, EGRESS_POLICIES, type Egress } from "./outbound/egress-policy.ts";
import { type KeyRing, KeyRingError, parseKeyRing } from "./vault/key-ring.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly apiKey: string | null;
  readonly publicUrl: string | null;
  readonly logLevel: string;
  readonly retentionDays: number;
  readonly maxInFlight: number;
  readonly bodyLimitBytes: number;
  readonly stopGraceSeconds: number;
  readonly allowUnsafeDatabase: boolean;
  readonly egress: Egress;
  readonly providersFile: string | null;
  /** Proxies whose word on the client's address is taken. */
  readonly trustProxy: readonly string[];
  /** Null: not set, which means different things with and without a database of one's own. */
  readonly vaultKeys: KeyRing | "off" | null;
  /** Settings that were given but do nothing, here or in this version: worth a word at the start. */
  readonly withoutEffect: readonly string[];
}

/** A mistake of the operator's, said in one line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export interface Setting {
  readonly name: string;
  readonly fallback: string | null;
  /** One sentence, with the unit. The reference is generated from these. */
  readonly about: string;
  readonly secret?: true;
}

export const SETTINGS = {
  host: { name: "HOST", fallback: "127.0.0.1", about: "Address to listen on." },
  port: { name: "PORT", fallback: "8787", about: "Port to listen on; 0 takes any free one." },
  databaseUrl: {
    name: "DATABASE_URL",
    fallback: null,
    about: "PostgreSQL (14 or newer) to use instead of the embedded one.",
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
  publicUrl: {
    name: "BELLHOP_PUBLIC_URL",
    fallback: null,
    about: "Address under which the world reaches this server; http://HOST:PORT if unset.",
  },
  logLevel: {
    name: "LOG_LEVEL",
    fallback: "info",
    about: "One of fatal, error, warn, info, debug, trace, silent.",
  },
  retentionDays: {
    name: "BELLHOP_RETENTION_DAYS",
    fallback: "30",
    about: "Days that finished tasks are kept, 1 to 3650.",
  },
  maxInFlight: {
    name: "BELLHOP_MAX_IN_FLIGHT",
    fallback: "2000",
    about: "Calls that one node has in flight at most, 2 to 100000.",
  },
  bodyLimitBytes: {
    name: "BELLHOP_BODY_LIMIT",
    fallback: "1048576",
    about: "Largest request body accepted, in bytes, 1024 to 104857600.",
  },
  stopGraceSeconds: {
    name: "BELLHOP_STOP_GRACE",
    fallback: "25",
    about: "Seconds that calls in flight may take to finish when the server stops, 0 to 3600.",
  },
  allowUnsafeDatabase: {
    name: "BELLHOP_ALLOW_UNSAFE_DATABASE",
    fallback: "false",
    about: "true starts even on a database that may lose what it has confirmed (fsync off and the like).",
  },
  egress: {
    name: "BELLHOP_EGRESS",
    fallback: null,
    about:
      "Where calls may go: public refuses loopback, private and reserved addresses and ports of other protocols; any " +
      "allows everything. Unset, it is any while HOST is a loopback address and public otherwise.",
  },
  egressAllow: {
    name: "BELLHOP_EGRESS_ALLOW",
    fallback: null,
    about:
      "What public allows on top, separated by commas: addresses (10.0.0.7), blocks (10.0.0.0/8) and host names " +
      "(api.example.com, *.example.com), each with or without a port (10.0.0.7:8080, [fd00::7]:8080).",
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
      "Addresses or CIDRs of proxies, parted by commas, whose X-Forwarded-For is believed; without it the client is whoever connects.",
  },
  vaultKeys: {
    name: "BELLHOP_VAULT_KEYS",
    fallback: null,
    about:
      "Keys of the token vault: id:key, separated by commas, each key 32 bytes in base64; the first one seals, all of " +
      "them open. Unset, one is generated into the data directory; with DATABASE_URL, or set to off, there is no vault.",
    secret: true,
  },
} as const satisfies Record<string, Setting>;

/** Names that belong to parts of Bellhop still to come: no mistake, but nothing reads them yet. */
const RESERVED = ["BELLHOP_OWNER_EMAIL", "BELLHOP_SESSION_KEY", "BELLHOP_SMTP_URL"];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment): Config {
  refuseUnknown(environment);
  const text = (setting: Setting) => read(environment, setting);
  const apiKey = text(SETTINGS.apiKey);
  if (apiKey !== null && !/^bh_live_[A-Za-z0-9]{32,128}$/.test(apiKey)) {
    throw new ConfigError("BELLHOP_API_KEY must be bh_live_ followed by at least 32 letters and digits");
  }
  const host = text(SETTINGS.host) ?? "127.0.0.1";
  const egress = readEgress(text(SETTINGS.egress), text(SETTINGS.egressAllow), host);
  return Object.freeze({
    host,
    port: integer(environment, SETTINGS.port, 0, 65_535),
    databaseUrl: databaseUrl(text(SETTINGS.databaseUrl)),
    dataDir: text(SETTINGS.dataDir) ?? ".bellhop",
    apiKey,
    publicUrl: publicUrl(text(SETTINGS.publicUrl)),
    logLevel: oneOf(environment, SETTINGS.logLevel, LOG_LEVELS),
    retentionDays: integer(environment, SETTINGS.retentionDays, 1, 3650),
    maxInFlight: integer(environment, SETTINGS.maxInFlight, 2, 100_000),
    bodyLimitBytes: integer(environment, SETTINGS.bodyLimitBytes, 1024, 104_857_600),
    stopGraceSeconds: integer(environment, SETTINGS.stopGraceSeconds, 0, 3600),
    allowUnsafeDatabase: oneOf(environment, SETTINGS.allowUnsafeDatabase, ["true", "false"]) === "true",
    egress,
    providersFile: text(SETTINGS.providersFile),
    trustProxy: trustProxy(text(SETTINGS.trustProxy)),
    vaultKeys: vaultKeys(text(SETTINGS.vaultKeys)),
    withoutEffect: [
      ...RESERVED.filter((name) => environment[name] !== undefined),
      // Not a way to narrow `any`, whoever hoped so.
      ...(egress.policy === "any" && egress.allow.length > 0 ? [SETTINGS.egressAllow.name] : []),
    ],
  });
}

function refuseUnknown(environment: Environment): void {
  const known = [...Object.values<Setting>(SETTINGS).map(({ name }) => name), ...RESERVED];
  const allowed = new Set([...known, ...known.map((name) => `${name}_FILE`)]);
  for (const name of Object.keys(environment)) {
    if (!name.startsWith("BELLHOP_") || allowed.has(name)) continue;
    const suggestion = closestName(name, known);
    const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
    throw new ConfigError(`Unknown setting ${name}${hint}`);
  }
}

/** An empty value counts as unset. A secret may also be given as a file: NAME_FILE. */
function read(environment: Environment, setting: Setting): string | null {
  const value = environment[setting.name];
  const file = setting.secret ? environment[`${setting.name}_FILE`] : undefined;
  if (value && file) throw new ConfigError(`Set either ${setting.name} or ${setting.name}_FILE, not both`);
  if (file) return readSecret(setting.name, file);
  return value || setting.fallback;
}

function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    throw new ConfigError(`${name}_FILE names a file that cannot be read: ${file}`);
  }
}

function integer(environment: Environment, setting: Setting, min: number, max: number): number {
  const text = read(environment, setting) ?? "";
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ConfigError(`${setting.name} must be a whole number between ${min} and ${max}`);
  }
  return value;
}

function oneOf(environment: Environment, setting: Setting, values: readonly string[]): string {
  const text = read(environment, setting) ?? "";
  if (!values.includes(text)) throw new ConfigError(`${setting.name} must be one of ${values.join(", ")}`);
  return text;
}

function readEgress(policyText: string | null, allowText: string | null, host: string): Egress {
  const given = EGRESS_POLICIES.find((policy) => policy === policyText) ?? null;
  if (policyText !== null && given === null) {
    throw new ConfigError(`${SETTINGS.egress.name} must be one of ${EGRESS_POLICIES.join(", ")}`);
  }
  const allow = (allowText ?? "").split(",").map((entry) => entry.trim());
  const entries = allow.filter((entry) => entry !== "");
  for (const entry of entries) {
    const parsed = parseAllowEntry(entry);
    if (!parsed.valid) throw new ConfigError(`${SETTINGS.egressAllow.name}: ${parsed.message}`);
  }
  return { ...chooseEgressPolicy(given, host), allow: entries };
}

function vaultKeys(text: string | null): Config["vaultKeys"] {
  if (text === null || text === "off") return text;
  try {
    return parseKeyRing(text);
  } catch (error) {
    throw error instanceof KeyRingError
      ? new ConfigError(`${SETTINGS.vaultKeys.name} ${error.message}`)
      : error;
  }
}

function databaseUrl(text: string | null): string | null {
  if (text === null) return null;
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new ConfigError("DATABASE_URL must be a postgres:// or postgresql:// address");
  }
  return text;
}

function publicUrl(text: string | null): string | null {
  if (text === null) return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ConfigError("BELLHOP_PUBLIC_URL must be an http or https address");
  }
  return text.replace(/\/+$/, "");
}

function trustProxy(text: string | null): readonly string[] {
  const entries = (text ?? "").split(",").map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [address = "", prefix] = entry.split("/");
      const family = isIP(address);
      const bits = family === 4 ? 32 : 128;
      const valid =
        family !== 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
      if (!valid)
        throw new ConfigError(
          `${SETTINGS.trustProxy.name} has "${entry}", which is not an address or a CIDR`,
        );
      return entry;
    });
}
