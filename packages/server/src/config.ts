import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { readEmail } from "./domain/identity/email.ts";
import type { PlanLimits } from "./domain/limits.ts";
import { NODE_ROLES, type NodeRole } from "./domain/node-role.ts";
import { parseAllowEntry } from "./outbound/egress-allow.ts";
import type { Egress, EgressPolicy } from "./outbound/egress-policy.ts";
import { LARGE_ANSWER_BYTES } from "./outbound/large-answers.ts";
import { RESOLVERS, type ResolverKind } from "./outbound/name-resolver.ts";
import { readPlanLimits } from "./plan-settings.ts";
import { DatabaseUrlError, splitDatabaseUrl } from "./postgres/database-url.ts";
import { choose, exposureOf, type InForce } from "./server/exposure.ts";
import { CLIENT_VARIABLES, closestSetting, SETTINGS, type Setting } from "./settings.ts";
import { type KeyRing, KeyRingError, parseKeyRing } from "./vault/key-ring.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly role: NodeRole;
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly apiKey: string | null;
  readonly ownerEmail: string | null;
  /** The first key signs session and access tokens, all keys verify. Empty: they are in the database. */
  readonly sessionKeys: readonly string[];
  readonly smtpUrl: string | null;
  readonly mailFrom: string | null;
  /** Whether an unknown address may sign up and gets its own team. */
  readonly signUp: InForce<"open" | "invited">;
  /** Where sign-in links go without a mail server: to the log, or nowhere. */
  readonly signInLinks: InForce<"log" | "mail">;
  readonly publicUrl: string | null;
  readonly logLevel: string;
  readonly retentionDays: number;
  readonly maxInFlight: number;
  readonly processes: number | null;
  /** Below this many free bytes no task is accepted; 0 disables the check. */
  readonly freeSpaceBytes: number;
  readonly databaseLimitBytes: number;
  /** Limits that replace those of a plan. */
  readonly planLimits: PlanLimits;
  readonly bodyLimitBytes: number;
  readonly resultLimitBytes: number;
  readonly stopGraceSeconds: number;
  readonly allowUnsafeDatabase: boolean;
  readonly egress: Egress;
  /** The resolver for host names of targets. */
  readonly resolver: ResolverKind;
  readonly providersFile: string | null;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy: readonly string[];
  /** Other machines can reach the server. */
  readonly exposed: boolean;
  readonly metricsToken: string | null;
  /** Null if not set, which means different things with and without DATABASE_URL. */
  readonly vaultKeys: KeyRing | "off" | null;
  /** Settings without effect here: logged as a warning at the start. */
  readonly withoutEffect: readonly string[];
}

/** A configuration error, as one line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment): Config {
  refuseUnknown(environment);
  const text = (setting: Setting) => read(environment, setting);
  const apiKey = text(SETTINGS.apiKey);
  if (apiKey !== null && !/^bh_live_[A-Za-z0-9]{32,128}$/.test(apiKey)) {
    throw new ConfigError("BELLHOP_API_KEY must be bh_live_ followed by at least 32 letters and digits");
  }
  const reach = {
    host: text(SETTINGS.host) ?? "127.0.0.1",
    publicUrl: publicUrl(text(SETTINGS.publicUrl)),
    trustProxy: trustProxy(text(SETTINGS.trustProxy)),
  };
  const exposure = exposureOf(reach);
  const byExposure = <T extends string>(setting: Setting, choices: { exposed: T; own: T }) => {
    const given = oneOfTwo(text(setting), setting, [choices.exposed, choices.own]);
    return choose(setting.name, given, exposure, choices);
  };
  // A server that only its own machine can reach belongs to a developer, whose targets are local too. Any other server
  // must not become a way into its network.
  const egress = readEgress(
    byExposure(SETTINGS.egress, { exposed: "public", own: "any" }),
    text(SETTINGS.egressAllow),
  );
  const smtp = smtpUrl(text(SETTINGS.smtpUrl));
  return Object.freeze({
    ...reach,
    exposed: exposure.exposed,
    port: integer(environment, SETTINGS.port, 0, 65_535),
    ...readPlace(text(SETTINGS.role), text(SETTINGS.databaseUrl)),
    dataDir: text(SETTINGS.dataDir) ?? ".bellhop",
    apiKey,
    ownerEmail: ownerEmail(text(SETTINGS.ownerEmail)),
    sessionKeys: sessionKeys(text(SETTINGS.sessionKeys)),
    smtpUrl: smtp,
    mailFrom: mailFrom(text(SETTINGS.mailFrom)),
    signUp: byExposure(SETTINGS.signUp, { exposed: "invited", own: "open" }),
    signInLinks: byExposure(SETTINGS.signInLinks, { exposed: "mail", own: "log" }),
    logLevel: oneOf(environment, SETTINGS.logLevel, LOG_LEVELS),
    retentionDays: integer(environment, SETTINGS.retentionDays, 1, 3650),
    maxInFlight: integer(environment, SETTINGS.maxInFlight, 2, 100_000),
    processes: text(SETTINGS.processes) === null ? null : integer(environment, SETTINGS.processes, 1, 64),
    freeSpaceBytes: integer(environment, SETTINGS.freeSpaceBytes, 0, Number.MAX_SAFE_INTEGER),
    databaseLimitBytes: integer(environment, SETTINGS.databaseLimitBytes, 0, Number.MAX_SAFE_INTEGER),
    planLimits: readPlanLimits(text, (message) => {
      throw new ConfigError(message);
    }),
    bodyLimitBytes: integer(environment, SETTINGS.bodyLimitBytes, 1024, 104_857_600),
    resultLimitBytes: integer(environment, SETTINGS.resultLimitBytes, 1024, LARGE_ANSWER_BYTES),
    stopGraceSeconds: integer(environment, SETTINGS.stopGraceSeconds, 0, 3600),
    allowUnsafeDatabase: oneOf(environment, SETTINGS.allowUnsafeDatabase, ["true", "false"]) === "true",
    egress,
    resolver: oneOf(environment, SETTINGS.resolver, RESOLVERS) === "system" ? "system" : "dns",
    providersFile: text(SETTINGS.providersFile),
    metricsToken: metricsToken(text(SETTINGS.metricsToken)),
    vaultKeys: vaultKeys(text(SETTINGS.vaultKeys)),
    withoutEffect: [
      // A list of exceptions to `public` does not narrow `any`.
      ...(egress.policy === "any" && egress.allow.length > 0 ? [SETTINGS.egressAllow.name] : []),
      // With a mail server every link is mailed.
      ...(smtp !== null && text(SETTINGS.signInLinks) === "log" ? [SETTINGS.signInLinks.name] : []),
    ],
  });
}

function refuseUnknown(environment: Environment): void {
  const known = Object.values<Setting>(SETTINGS).map(({ name }) => name);
  const allowed = new Set([...known, ...known.map((name) => `${name}_FILE`), ...CLIENT_VARIABLES]);
  for (const name of Object.keys(environment)) {
    if (!name.startsWith("BELLHOP_") || allowed.has(name)) continue;
    const suggestion = closestSetting(name);
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

function oneOfTwo<T extends string>(text: string | null, setting: Setting, values: readonly T[]): T | null {
  const given = values.find((value) => value === text) ?? null;
  if (text !== null && given === null)
    throw new ConfigError(`${setting.name} must be one of ${values.join(", ")}`);
  return given;
}

function readEgress({ value: policy, why }: InForce<EgressPolicy>, allowText: string | null): Egress {
  const allow = (allowText ?? "").split(",").map((entry) => entry.trim());
  const entries = allow.filter((entry) => entry !== "");
  for (const entry of entries) {
    const parsed = parseAllowEntry(entry);
    if (!parsed.valid) throw new ConfigError(`${SETTINGS.egressAllow.name}: ${parsed.message}`);
  }
  return { policy, why, allow: entries };
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

/** No other node can reach an embedded database: half of a node would accept tasks that never run, or get none. */
function readPlace(roleText: string | null, urlText: string | null): Pick<Config, "role" | "databaseUrl"> {
  const role = NODE_ROLES.find((known) => known === roleText);
  if (role === undefined)
    throw new ConfigError(`${SETTINGS.role.name} must be one of ${NODE_ROLES.join(", ")}`);
  if (role !== "all" && urlText === null)
    throw new ConfigError(
      `${SETTINGS.role.name}=${role} needs ${SETTINGS.databaseUrl.name}: no other node can reach an embedded database`,
    );
  return { role, databaseUrl: databaseUrl(urlText) };
}

function databaseUrl(text: string | null): string | null {
  if (text === null) return null;
  if (!/^postgres(ql)?:\/\//.test(text))
    throw new ConfigError("DATABASE_URL must be a postgres:// or postgresql:// address");
  try {
    splitDatabaseUrl(text);
  } catch (error) {
    throw error instanceof DatabaseUrlError ? new ConfigError(error.message) : error;
  }
  return text;
}

function ownerEmail(text: string | null): string | null {
  if (text === null) return null;
  const email = readEmail(text);
  if (email === null) throw new ConfigError(`${SETTINGS.ownerEmail.name} must be a mail address`);
  return email;
}

function sessionKeys(text: string | null): readonly string[] {
  const keys = (text ?? "").split(",").map((key) => key.trim());
  const given = keys.filter((key) => key !== "");
  if (text !== null && (given.length === 0 || given.some((key) => key.length < 32)))
    throw new ConfigError(
      `${SETTINGS.sessionKeys.name} must hold keys of at least 32 characters, separated by commas`,
    );
  return given;
}

function smtpUrl(text: string | null): string | null {
  if (text === null) return null;
  const { protocol, hostname } = URL.canParse(text) ? new URL(text) : { protocol: "", hostname: "" };
  if (!/^smtps?:$/.test(protocol) || hostname === "")
    throw new ConfigError(`${SETTINGS.smtpUrl.name} must be an smtp:// or smtps:// address`);
  return text;
}

/** `ada@example.com`, or with a name: `Ada <ada@example.com>`. */
function mailFrom(text: string | null): string | null {
  if (text === null) return null;
  const address = /^[^<>\p{C}]*<([^<>]+)>$/u.exec(text)?.[1] ?? text;
  if (readEmail(address) === null)
    throw new ConfigError(
      `${SETTINGS.mailFrom.name} must be a mail address, such as Bellhop <bellhop@example.com>`,
    );
  return text;
}

function publicUrl(text: string | null): string | null {
  if (text === null) return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ConfigError("BELLHOP_PUBLIC_URL must be an http or https address");
  }
  return text.replace(/\/+$/, "");
}

/** Valid in a header, and hard to guess. */
function metricsToken(text: string | null): string | null {
  const { name } = SETTINGS.metricsToken;
  if (text !== null && !/^[\x21-\x7e]{16,}$/.test(text))
    throw new ConfigError(`${name} must be at least 16 printable ASCII characters without spaces`);
  return text;
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
        family !== 0 &&
        (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) > 0 && Number(prefix) <= bits));
      if (!valid)
        throw new ConfigError(
          `${SETTINGS.trustProxy.name} has "${entry}", which is not an address or a CIDR`,
        );
      return entry;
    });
}
