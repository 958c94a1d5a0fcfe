import { readFileSync } from "node:fs";
import { closestName } from "./domain/spelling.ts";

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
  /** Settings that were given but do nothing in this version: worth a word at the start. */
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
} as const satisfies Record<string, Setting>;

/** Names that belong to parts of Bellhop still to come: no mistake, but nothing reads them yet. */
const RESERVED = [
  "BELLHOP_OWNER_EMAIL",
  "BELLHOP_VAULT_KEYS",
  "BELLHOP_SESSION_KEY",
  "BELLHOP_EGRESS",
  "BELLHOP_EGRESS_ALLOW",
  "BELLHOP_TRUST_PROXY",
  "BELLHOP_SMTP_URL",
  "BELLHOP_PROVIDERS_FILE",
];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment): Config {
  refuseUnknown(environment);
  const text = (setting: Setting) => read(environment, setting);
  const apiKey = text(SETTINGS.apiKey);
  if (apiKey !== null && !/^bh_live_[A-Za-z0-9]{32,128}$/.test(apiKey)) {
    throw new ConfigError("BELLHOP_API_KEY must be bh_live_ followed by at least 32 letters and digits");
  }
  return Object.freeze({
    host: text(SETTINGS.host) ?? "127.0.0.1",
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
    withoutEffect: RESERVED.filter((name) => environment[name] !== undefined),
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
