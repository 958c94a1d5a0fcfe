import { METHODS } from "../../domain/call.ts";
import type { Provider } from "../../domain/poll/poll-config.ts";
import {
  completePollConfig,
  type OwnPollConfig,
  POLL_LIMITS,
  pollConfigComplaints,
} from "../../domain/poll/poll-rules.ts";
import { closestName } from "../../domain/spelling.ts";

/** The rule of one field as text and as a predicate. */
interface Rule {
  readonly text: string;
  readonly keeps: (value: unknown) => boolean;
  readonly required: boolean;
}

const L = POLL_LIMITS;

const PROVIDER_RULES = {
  id: {
    text: "1 to 64 small letters, digits or hyphens",
    keeps: (value) => typeof value === "string" && /^[a-z0-9-]{1,64}$/.test(value),
    required: true,
  },
  name: text(1, 100),
  description: text(1, 500),
  pollConfig: { text: "an object", keeps: isRecord, required: true },
} satisfies Record<keyof Provider, Rule>;

const POLL_CONFIG_RULES = {
  urlTemplate: text(1, L.template),
  interval: optional(number(L.minInterval, L.maxInterval)),
  statusPath: text(1, L.path),
  doneValues: texts(1, L.values, L.value),
  failValues: texts(0, L.values, L.value),
  resultPath: optional(text(0, L.path)),
  errorPath: optional(text(1, L.path)),
  resultUrlTemplate: optional(text(1, L.template)),
  cancelUrlTemplate: optional(text(1, L.template)),
  cancelMethod: optional({
    text: `one of ${METHODS.join(", ")}`,
    keeps: (value) => METHODS.some((method) => method === value),
    required: true,
  }),
  forwardAuth: optional({
    text: "true or false",
    keeps: (value) => typeof value === "boolean",
    required: true,
  }),
  forwardHeaders: optional(texts(0, L.headers, L.header)),
  maxDuration: optional(number(L.minDuration, L.maxDuration)),
} satisfies Record<keyof OwnPollConfig, Rule>;

const FILE_RULES = {
  providers: { text: "an array of providers", keeps: Array.isArray, required: true },
} satisfies Record<string, Rule>;

/**
 * The operator's catalog entries: `{ "providers": [ { id, name, description, pollConfig } ] }`, as the API shows them.
 * Throws with every mistake and its position, so that ten typos do not take ten starts.
 */
export function readProviders(source: string): Provider[] {
  const complaints: string[] = [];
  const providers: Provider[] = [];
  for (const [index, entry] of readEntries(source).entries()) {
    const place = `providers[${index}]`;
    const provider = readProvider(entry, place, complaints);
    if (provider === null) continue;
    if (providers.some(({ id }) => id === provider.id))
      complaints.push(`${place}.id repeats "${provider.id}"`);
    providers.push(provider);
  }
  if (complaints.length > 0) throw refuse(complaints.join("\n  "));
  return providers;
}

function readEntries(source: string): unknown[] {
  let file: unknown;
  try {
    file = JSON.parse(source);
  } catch {
    throw refuse("the file is not valid JSON");
  }
  if (!isRecord(file)) throw refuse("the file must hold an object");
  const complaints: string[] = [];
  if (!keepsAll<{ providers: unknown[] }>(file, FILE_RULES, "", complaints))
    throw refuse(complaints[0] ?? "");
  return file.providers;
}

/** Null after a complaint. */
function readProvider(entry: unknown, place: string, complaints: string[]): Provider | null {
  if (!isRecord(entry)) {
    complaints.push(`${place} must be an object`);
    return null;
  }
  const isProvider = keepsAll<Provider>(entry, PROVIDER_RULES, `${place}.`, complaints);
  const { pollConfig: own } = entry;
  const within = `${place}.pollConfig.`;
  if (!isRecord(own) || !keepsAll<OwnPollConfig>(own, POLL_CONFIG_RULES, within, complaints)) return null;
  if (!isProvider) return null;
  const wrong = pollConfigComplaints(own);
  complaints.push(...wrong.map(({ error }) => within + error));
  const { id, name, description } = entry;
  return wrong.length > 0 ? null : { id, name, description, pollConfig: completePollConfig(own) };
}

/** Whether an object matches its rules, which cover the whole type; reports each broken rule. */
function keepsAll<T extends object>(
  value: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<keyof T, Rule>>,
  prefix: string,
  complaints: string[],
): value is Readonly<Record<string, unknown>> & T {
  const before = complaints.length;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(rules, name)) continue;
    const meant = closestName(name, Object.keys(rules));
    complaints.push(
      `${prefix}${name} is not known${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`,
    );
  }
  for (const [name, rule] of Object.entries<Rule>(rules)) {
    const given = Object.hasOwn(value, name);
    if (!given && rule.required) complaints.push(`${prefix}${name} is required`);
    if (given && !rule.keeps(value[name])) complaints.push(`${prefix}${name} must be ${rule.text}`);
  }
  return complaints.length === before;
}

function text(min: number, max: number): Rule {
  return { text: `a string of ${min} to ${max} characters`, keeps: isText(min, max), required: true };
}

function texts(min: number, max: number, longest: number): Rule {
  return {
    text: `an array of ${min} to ${max} strings of 1 to ${longest} characters`,
    keeps: (value) =>
      Array.isArray(value) && value.length >= min && value.length <= max && value.every(isText(1, longest)),
    required: true,
  };
}

function number(min: number, max: number): Rule {
  return {
    text: `a number between ${min} and ${max}`,
    keeps: (value) => typeof value === "number" && value >= min && value <= max,
    required: true,
  };
}

function optional(rule: Rule): Rule {
  return { ...rule, required: false };
}

function isText(min: number, max: number): (value: unknown) => boolean {
  return (value) => typeof value === "string" && value.length >= min && value.length <= max;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(reason: string): Error {
  return new Error(`BELLHOP_PROVIDERS_FILE:\n  ${reason}`);
}
