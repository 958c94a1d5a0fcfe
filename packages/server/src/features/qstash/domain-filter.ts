import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import { parseTaskId } from "../../domain/task-id.ts";
import { parseDlqId, parseLogCursor } from "./domain-message-id.ts";

/** A filter of messages: several values of one field mean any of them, several fields all of them. */
export interface MessageFilter {
  readonly ids: readonly string[] | null;
  readonly dlqIds: readonly string[] | null;
  readonly labels: readonly string[] | null;
  readonly flowKeys: readonly string[] | null;
  readonly urls: readonly string[] | null;
  readonly hosts: readonly string[] | null;
  readonly paths: readonly string[] | null;
  readonly topics: readonly string[] | null;
  readonly queues: readonly string[] | null;
  readonly schedules: readonly string[] | null;
  readonly states: readonly string[] | null;
  readonly responseStatuses: readonly number[] | null;
  /** Both inclusive. */
  readonly from: Date | null;
  readonly to: Date | null;
  readonly count: number | null;
  /** The message after which it goes on. */
  readonly cursor: string | null;
  /** Of the logs: how many entries of that message are still to be shown; null if none. */
  readonly entriesLeft: number | null;
}

type Query = ReadonlyMap<string, readonly string[]>;

const SHARED = [
  "label",
  "flowControlKey",
  "url",
  "topicName",
  "queueName",
  "scheduleId",
  "fromDate",
  "toDate",
];

/** What each request takes. An unknown filter is refused: taken for none, it would mean all messages. */
export const FILTERS = {
  cancel: [...SHARED, "messageIds", "host", "path", "count", "cursor"],
  dlq: [...SHARED, "dlqIds", "messageId", "messageIds", "responseStatus", "count", "cursor"],
  logs: [...SHARED, "messageId", "messageIds", "host", "path", "state", "count", "cursor"],
} as const;

/** 0 is a message that was not answered. */
const STATUS = /^\d{1,3}$/;
const MOST_VALUES = 1000;
const LONGEST_VALUE = 8192;

export function readFilter(query: Query, known: readonly string[]): MessageFilter {
  const complaints: ProblemDetail[] = [];
  for (const [name, values] of query) {
    if (!known.includes(name))
      complaints.push({ field: echo(name), error: `Unknown filter "${echo(name)}"` });
    else if (values.length > MOST_VALUES || values.some(({ length }) => length > LONGEST_VALUE))
      complaints.push(mustBe(name, `at most ${MOST_VALUES} values`));
    else if (values.length === 0)
      complaints.push(mustBe(name, "given: without a value it would mean everything"));
  }
  if (complaints.length > 0) throw invalid(complaints);
  const all = (...names: string[]) => {
    const values = names.flatMap((name) => query.get(name) ?? []);
    return values.length === 0 ? null : values;
  };
  const [after] = query.get("cursor") ?? [];
  const cursor = after === undefined ? null : parseLogCursor(after);
  const isOfLogs = known === FILTERS.logs;
  if (after !== undefined && (cursor === null || (cursor.entriesLeft !== null && !isOfLogs)))
    complaints.push(mustBe("cursor", "the cursor of an earlier answer"));
  const filter = {
    ids: all("messageIds", "messageId"),
    dlqIds: all("dlqIds"),
    labels: all("label"),
    flowKeys: all("flowControlKey"),
    urls: all("url"),
    hosts: all("host")?.map((host) => host.toLowerCase()) ?? null,
    paths: all("path"),
    topics: all("topicName"),
    queues: all("queueName"),
    schedules: all("scheduleId"),
    states: all("state"),
    responseStatuses:
      all("responseStatus")?.map((text) => (STATUS.test(text) ? Number(text) : Number.NaN)) ?? null,
    from: readMs(query, "fromDate", complaints),
    to: readMs(query, "toDate", complaints),
    count: readCount(query, complaints),
    cursor: cursor?.id ?? null,
    entriesLeft: cursor?.entriesLeft ?? null,
  };
  if (filter.responseStatuses?.some((status) => !Number.isInteger(status)))
    complaints.push(mustBe("responseStatus", "a status code"));
  if (complaints.length > 0) throw invalid(complaints);
  return filter;
}

/** Ids that no message can have match nothing; null without the filter. */
export function wantedIds({ ids, dlqIds }: MessageFilter): readonly string[] | null {
  if (ids === null && dlqIds === null) return null;
  const named = [
    ...(ids ?? []).map(parseTaskId),
    ...(dlqIds ?? []).map((dlqId) => parseDlqId(dlqId)?.id ?? null),
  ];
  return named.filter((id) => id !== null);
}

function readMs(query: Query, name: string, complaints: ProblemDetail[]): Date | null {
  const [text] = query.get(name) ?? [];
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return new Date(Number(text));
  complaints.push(mustBe(name, "a Unix time in milliseconds"));
  return null;
}

function readCount(query: Query, complaints: ProblemDetail[]): number | null {
  const [text] = query.get("count") ?? [];
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  complaints.push(mustBe("count", "a number of at least 1"));
  return null;
}
