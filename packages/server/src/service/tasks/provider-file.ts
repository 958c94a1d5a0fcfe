import type { Provider } from "../../domain/poll/poll-config.ts";
import {
  completePollConfig,
  type OwnPollConfig,
  POLL_LIMITS,
  pollConfigComplaints,
} from "../../domain/poll/poll-rules.ts";
import { closestName } from "../../domain/spelling.ts";

/** The rule of one field in words, and whether a value keeps it. */
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
  forwardAuth: optional({
    text: "true or false",
    keeps: (value) => typeof value === "boolean",
    required: true,
  }),
  forwardHeaders: optional(texts(0, L.headers, L.header)),
  maxDuration: optional(number(L.minDuration, L.maxDuration)),
} satisfies Record<keyof OwnPollConfig, Rule>;

/**
 * The operator's catalog entries: `{ "providers": [ { id, name, description, pollConfig } ] }`, as the API shows
 * them. Throws with every mistake, each with its place: ten typos must not take ten starts to find.
 */
export function readProviders(source: string): Provider[] {
  const complaints: string[] = [];
  const providers: Provider[] = [];
  const seen = new Set<string>();
  for (const [index, entry] of readEntries(source).entries()) {
    const place = `providers[${index}]`;
    const before = complaints.length;
    complaints.push(...entryComplaints(entry, place));
    if (complaints.length > before || !isOwnProvider(entry)) continue;
    if (seen.has(entry.id)) complaints.push(`${place}.id repeats "${entry.id}"`);
    seen.add(entry.id);
    const { id, name, description, pollConfig } = entry;
    providers.push({ id, name, description, pollConfig: completePollConfig(pollConfig) });
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
  const rules = {
    providers: {
      text: "an array of providers",
      keeps: (value: unknown) => Array.isArray(value),
      required: true,
    },
  };
  const [complaint] = isRecord(file) ? objectComplaints(file, rules, "") : ["the file must hold an object"];
  if (complaint !== undefined || !isRecord(file) || !Array.isArray(file.providers)) {
    throw refuse(complaint ?? "the file holds no providers");
  }
  return file.providers;
}

function entryComplaints(entry: unknown, place: string): string[] {
  if (!isRecord(entry)) return [`${place} must be an object`];
  const complaints = objectComplaints(entry, PROVIDER_RULES, `${place}.`);
  const { pollConfig } = entry;
  if (!isRecord(pollConfig)) return complaints;
  const within = `${place}.pollConfig.`;
  complaints.push(...objectComplaints(pollConfig, POLL_CONFIG_RULES, within));
  if (complaints.length > 0 || !isOwnProvider(entry)) return complaints;
  return pollConfigComplaints(entry.pollConfig).map(({ error }) => within + error);
}

function objectComplaints(
  value: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, Rule>>,
  prefix: string,
): string[] {
  const complaints: string[] = [];
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(rules, name)) continue;
    const meant = closestName(name, Object.keys(rules));
    complaints.push(
      `${prefix}${name} is not known${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`,
    );
  }
  for (const [name, rule] of Object.entries(rules)) {
    const given = Object.hasOwn(value, name);
    if (!given && rule.required) complaints.push(`${prefix}${name} is required`);
    if (given && !rule.keeps(value[name])) complaints.push(`${prefix}${name} must be ${rule.text}`);
  }
  return complaints;
}

/** Only for what has passed the rules: they say everything that the type does. */
function isOwnProvider(
  entry: unknown,
): entry is Omit<Provider, "pollConfig"> & { pollConfig: OwnPollConfig } {
  return (
    isRecord(entry) &&
    objectComplaints(entry, PROVIDER_RULES, "").length === 0 &&
    isRecord(entry.pollConfig) &&
    objectComplaints(entry.pollConfig, POLL_CONFIG_RULES, "").length === 0
  );
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
