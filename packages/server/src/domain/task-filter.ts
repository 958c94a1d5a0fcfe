import type { FailureReason, TaskStatus } from "./task.ts";

/** A filter of a team's tasks; all conditions must hold. Null is no condition. */
export interface TaskFilter {
  /** Only tasks of the sandbox, or only the others. */
  readonly sandbox: boolean;
  readonly queue: string | null;
  readonly statuses: readonly TaskStatus[] | null;
  /** Tags that the task has, all of them. */
  readonly tags: readonly string[] | null;
  /** Created then or later. */
  readonly createdAfter: Date | null;
  /** Created earlier than then. */
  readonly createdBefore: Date | null;
  /** Hosts of the URL without the port, in every searched spelling. */
  readonly hosts: readonly string[] | null;
  readonly provider: string | null;
  /** Only tasks that this schedule has created. */
  readonly scheduleId: string | null;
  readonly failureReason: FailureReason | null;
  readonly lastAnswer: LastAnswer | null;
  /** A pattern that all of the task's `error` fits, whatever its case; `*` stands for any text. */
  readonly error: string | null;
  /** Entries that the task's metadata has, all of them. */
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Only failed tasks that were dismissed, or only tasks that were not. */
  readonly dismissed: boolean | null;
  readonly id: string | null;
}

/** Of ids, and so of the times at which the tasks were created. */
export type Order = "desc" | "asc";

/** The answer to the last finished attempt: a status code in this range, or none. */
export type LastAnswer =
  | { readonly least: number; readonly most: number }
  | { readonly none: "timeout" | "network" };

export const RESPONSE_CODE_PATTERN = "^(?:[1-5][0-9][0-9]|[1-5]xx|timeout|network)$";

/** For a text that matches the pattern. */
export function readLastAnswer(text: string): LastAnswer {
  if (text === "timeout" || text === "network") return { none: text };
  const least = Number(text.replace("xx", "00"));
  return { least, most: text.endsWith("xx") ? least + 99 : least };
}

/** `key=value`; null for anything else. A key has no `=`. */
export function readMetadataEntry(text: string): { readonly key: string; readonly value: string } | null {
  const at = text.indexOf("=");
  return at < 1 ? null : { key: text.slice(0, at), value: text.slice(at + 1) };
}

const HOST = /^[^\s/\\?#@:[\]]+$/;
const IPV6 = /^\[?([0-9a-f:.]*:[0-9a-f:.]*)\]?$/i;

/** The host as given and as a parser spells it. Null for an invalid host or one with a port. */
export function readHost(text: string): readonly string[] | null {
  const given = (HOST.test(text) ? text : `[${IPV6.exec(text)?.[1] ?? ""}]`).toLowerCase();
  if (!URL.canParse(`http://${given}/`)) return null;
  const spelled = new URL(`http://${given}/`).hostname;
  return spelled === given ? [given] : [given, spelled];
}

/** Whether the filter needs a scan of the tasks, because no index covers it. */
export function needsSearch(filter: TaskFilter): boolean {
  const { tags, hosts, provider, scheduleId, failureReason, lastAnswer, error, metadata, dismissed, id } =
    filter;
  return [tags, hosts, provider, scheduleId, failureReason, lastAnswer, error, metadata, dismissed, id].some(
    (each) => each !== null,
  );
}

/** True of a filter that every task passes. */
export function isEmpty(filter: TaskFilter): boolean {
  const { queue, statuses, createdAfter, createdBefore } = filter;
  return (
    !needsSearch(filter) && [queue, statuses, createdAfter, createdBefore].every((each) => each === null)
  );
}

/**
 * Ids follow the clocks of the nodes that created them, `createdAt` the database's. With clock differences below this,
 * which is far more than a synchronised clock has, every task is found.
 */
const CLOCKS_DIFFER_MS = 10_000;

/** The ids that tasks of this filter can have. */
export function idRange({ createdAfter, createdBefore, id }: TaskFilter): {
  readonly low: string | null;
  readonly high: string | null;
} {
  if (id !== null) return { low: id, high: id };
  return {
    low: createdAfter && firstIdOf(createdAfter.getTime() - CLOCKS_DIFFER_MS),
    high: createdBefore && firstIdOf(createdBefore.getTime() + CLOCKS_DIFFER_MS),
  };
}

export const FIRST_ID = "00000000-0000-0000-0000-000000000000";
export const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** A UUID of version 7 begins with its millisecond, in 48 bits. */
export function firstIdOf(ms: number): string {
  const digits = Math.min(Math.max(0, ms), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
