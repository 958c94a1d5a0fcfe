import { parseTaskId } from "../../domain/task-id.ts";

/** A failure of a message: its task, and the number of the attempt that failed. After a retry there is another. */
export function formatDlqId(taskId: string, attempt: number): string {
  return `${taskId}-${attempt}`;
}

const NUMBERED_ID = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-(\d{1,9})$/;

export function parseDlqId(text: string): { readonly id: string; readonly attempt: number } | null {
  const [, id, attempt] = NUMBERED_ID.exec(text) ?? [];
  return id === undefined ? null : { id, attempt: Number(attempt) };
}

/** Where a page of the logs ended within a message: so many of its oldest entries are left. */
export function formatLogCursor(taskId: string, entriesLeft: number): string {
  return `${taskId}-${entriesLeft}`;
}

/** A page that ended behind a message has its id alone. */
export function parseLogCursor(
  text: string,
): { readonly id: string; readonly entriesLeft: number | null } | null {
  const [, inside, left] = NUMBERED_ID.exec(text) ?? [];
  if (inside !== undefined) return { id: inside, entriesLeft: Number(left) };
  const id = parseTaskId(text);
  return id === null ? null : { id, entriesLeft: null };
}

/** A UUID of version 7 begins with its millisecond, in 48 bits. */
export function createdMsOf(taskId: string): number {
  return Number.parseInt(taskId.slice(0, 8) + taskId.slice(9, 13), 16);
}

/** As `header` in QStash's records: `Test-Header`, and a list of values. */
export function headerLists(headers: Readonly<Record<string, string>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase().replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()),
      [value],
    ]),
  );
}
