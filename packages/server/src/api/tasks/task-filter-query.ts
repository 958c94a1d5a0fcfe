import { type Static, Type } from "typebox";
import { invalid, mustBe } from "../../domain/complaint.ts";
import { parseInstant } from "../../domain/instant.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import { parseId } from "../../domain/public-id.ts";
import { QUEUE_READ_PATTERN } from "../../domain/queue.ts";
import { isStorable, STORABLE_RULE } from "../../domain/storable-text.ts";
import { LABEL_LIMITS } from "../../domain/tag-rules.ts";
import { FAILURE_REASONS, TASK_STATUSES } from "../../domain/task.ts";
import {
  RESPONSE_CODE_PATTERN,
  readHost,
  readLastAnswer,
  readMetadataEntry,
} from "../../domain/task-filter.ts";
import { parseTaskId } from "../../domain/task-id.ts";
import type { AskedFilter } from "../../service/tasks/task-list.ts";
import { oneOf } from "../schemas/field.ts";
import { STATUS_LIST_PATTERN } from "../schemas/task-status.ts";

const tag = Type.String({ minLength: 1, maxLength: LABEL_LIMITS.tag });

/** `metadata.order=4711`. */
const ENTRY = "metadata.";

/** Beside the fields: as many as a task can have. */
export const FILTER_PATTERNS = {
  patternProperties: { "^metadata\\..": { type: "string", maxLength: 1024 } },
} as const;

/** Which tasks are meant, as a list says it. All of it must be true of a task. */
export const FILTER_FIELDS = {
  queue: Type.Optional(
    Type.String({ pattern: QUEUE_READ_PATTERN, description: "Only tasks of this queue." }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: STATUS_LIST_PATTERN,
      description: "Only tasks in this state, or in one of several, separated by commas.",
      examples: ["failed,cancelled"],
    }),
  ),
  tag: Type.Optional(
    Type.Union([tag, Type.Array(tag, { minItems: 1, maxItems: LABEL_LIMITS.tags })], {
      description: "Only tasks that have this tag; repeated: all of these tags.",
    }),
  ),
  created_after: Type.Optional(
    Type.String({ description: "Only tasks created then or later.", examples: ["2026-03-01T09:30:00Z"] }),
  ),
  created_before: Type.Optional(
    Type.String({ description: "Only tasks created earlier than then.", examples: ["2026-03-01T10:00:00Z"] }),
  ),
  host: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only calls to this host, named as in the URL, without its port.",
      examples: ["api.example.com"],
    }),
  ),
  provider: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Only tasks that name this provider." }),
  ),
  schedule: Type.Optional(
    Type.String({ description: "Only tasks that this schedule has created, by its id." }),
  ),
  failure_reason: Type.Optional(
    oneOf(FAILURE_REASONS, { description: "Only tasks that failed for this reason." }),
  ),
  response_code: Type.Optional(
    Type.String({
      pattern: RESPONSE_CODE_PATTERN,
      description:
        "Only tasks whose last finished attempt was answered with this status code or class (`503`, `5xx`), or not in " +
        "time (`timeout`), or broke off on the network (`network`).",
      examples: ["503", "5xx", "timeout", "network"],
    }),
  ),
  error: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description:
        "Only tasks whose whole `error` fits this pattern, whatever its case; `*` stands for any text.",
      examples: ["*card declined*"],
    }),
  ),
  metadata: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 1100,
      description:
        "Only tasks with this entry in their metadata: its key, `=` and its value. Several entries, which must all be " +
        "there, are written as `metadata.<name>=<value>`.",
      examples: ["order=4711"],
    }),
  ),
  dismissed: Type.Optional(
    oneOf(["true", "false"], {
      description: "`true`: only failed tasks that were dismissed. `false`: only tasks that were not.",
    }),
  ),
  id: Type.Optional(Type.String({ description: "Only this task, by either spelling of its id." })),
};

/** The same in JSON, where the entries of the metadata can stand together. */
export const JSON_FILTER_FIELDS = {
  ...FILTER_FIELDS,
  metadata: Type.Optional(
    Type.Union([Type.String({ minLength: 2, maxLength: 1100 }), Type.Record(Type.String(), Type.String())], {
      description:
        "Only tasks with these entries in their metadata: an object, or one entry as its key, `=` and its value.",
    }),
  ),
};

/** Puts what is named as in a query (`metadata.order`) into the metadata of a filter in JSON. */
export function gatherEntries(filter: unknown): void {
  if (typeof filter !== "object" || filter === null) return;
  const members = new Map<string, unknown>(Object.entries(filter));
  const named = [...members.keys()].filter((name) => name.startsWith(ENTRY) && name !== ENTRY);
  if (named.length === 0) return;
  const metadata = members.get("metadata");
  const single = typeof metadata === "string" ? readMetadataEntry(metadata) : null;
  const entries = new Map<string, unknown>(
    typeof metadata === "object" && metadata !== null ? Object.entries(metadata) : [],
  );
  if (single !== null) entries.set(single.key, single.value);
  for (const name of named) {
    entries.set(name.slice(ENTRY.length), members.get(name));
    Reflect.deleteProperty(filter, name);
  }
  Object.assign(filter, { metadata: Object.fromEntries(entries) });
}

const Filter = Type.Object(JSON_FILTER_FIELDS);

/** Takes what has passed the schema; refuses what breaks a rule that no schema can say. */
export function readFilter(said: Static<typeof Filter>, sandbox: boolean | null): AskedFilter {
  const complaints: ProblemDetail[] = [];
  function read<T>(
    name: Exclude<keyof typeof said, "tag" | "metadata">,
    parse: (text: string) => T | null,
    rule: string,
  ): T | null {
    const text = said[name];
    const value = text === undefined ? null : parse(text);
    if (text !== undefined && value === null) complaints.push(mustBe(name, rule));
    return value;
  }
  const instantRule = "an ISO 8601 time with a time zone, such as 2026-03-01T09:30:00Z";
  const storable = (text: string) => (isStorable(text) ? text : null);
  const chosen = said.status?.split(",");
  const filter: AskedFilter = {
    sandbox,
    queue: said.queue ?? null,
    statuses: chosen === undefined ? null : TASK_STATUSES.filter((status) => chosen.includes(status)),
    tags: said.tag === undefined ? null : [...new Set([said.tag].flat())],
    createdAfter: read("created_after", parseInstant, instantRule),
    createdBefore: read("created_before", parseInstant, instantRule),
    hosts: read("host", readHost, "the name or address of a host, without a port"),
    provider: read("provider", storable, STORABLE_RULE),
    scheduleId: read("schedule", (text) => parseId("sch", text), "the id of a schedule, sch_…"),
    failureReason: said.failure_reason ?? null,
    lastAnswer: said.response_code === undefined ? null : readLastAnswer(said.response_code),
    error: read("error", storable, STORABLE_RULE),
    metadata: readEntries(said, complaints),
    dismissed: said.dismissed === undefined ? null : said.dismissed === "true",
    id: read("id", parseTaskId, "the id of a task"),
  };
  if (filter.tags?.some((each) => !isStorable(each))) complaints.push(mustBe("tag", STORABLE_RULE));
  if (complaints.length > 0) throw invalid(complaints);
  return filter;
}

/** Each name once; null if there are none. */
function readEntries(said: Static<typeof Filter>, complaints: ProblemDetail[]): AskedFilter["metadata"] {
  const entries = new Map<string, string>();
  const entryOf = (name: string, key: string, value: unknown) => ({ name, text: `${key}=${value}` });
  const texts = Object.entries(said).flatMap(([name, value]) => {
    if (name.startsWith(ENTRY)) return entryOf(name, name.slice(ENTRY.length), value);
    if (name !== "metadata") return [];
    if (typeof value === "string") return { name, text: value };
    return Object.entries(value).map(([key, each]) => entryOf(`metadata.${key}`, key, each));
  });
  for (const { name, text } of texts) {
    const entry = isStorable(text) ? readMetadataEntry(text) : null;
    if (entry === null) complaints.push(mustBe(name, "a key, = and a value, such as order=4711"));
    else entries.set(entry.key, entry.value);
  }
  if (texts.length > LABEL_LIMITS.entries)
    complaints.push(mustBe("metadata", `at most ${LABEL_LIMITS.entries} entries`));
  return texts.length === 0 ? null : Object.fromEntries(entries);
}
