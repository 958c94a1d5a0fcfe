import { hash } from "node:crypto";
import type { Reach } from "../../domain/reach.ts";
import { type RequestTexts, settingsText } from "../../domain/same-request.ts";
import type { TaskSettings } from "../../domain/task.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import type { Sql } from "../../store/sql.ts";
import { findQueue } from "../../store/tasks/queues.ts";

/** Of a SHA-256, in hexadecimal. */
const DIGITS = 64;

/** The stored hashes of a request: of the whole text, then of its bare text if it has one. */
export function hashRequest({ requestText, bareText }: RequestTexts): string {
  return sha256(requestText) + (bareText === null ? "" : sha256(bareText));
}

/** Whether the request created this task, or would create the same now. */
export async function isRepeated(
  sql: Sql,
  reach: Reach,
  request: TaskRequest,
  earlier: { readonly requestHash: string; readonly task: TaskSettings },
): Promise<boolean> {
  const [asked, kept] = [hashRequest(request), earlier.requestHash];
  if (asked.slice(0, DIGITS) === kept.slice(0, DIGITS)) return true;
  if (asked.slice(-DIGITS) !== kept.slice(-DIGITS)) return false;
  const queue = await findQueue(sql, reach, request.queue);
  return settingsText(request, queue) === settingsText(earlier.task, null);
}

/** The same for two requests without a task yet. */
export async function areSame(
  sql: Sql,
  reach: Reach,
  one: TaskRequest,
  other: TaskRequest,
): Promise<boolean> {
  if (one.requestText === other.requestText) return true;
  if ((one.bareText ?? one.requestText) !== (other.bareText ?? other.requestText)) return false;
  const queue = await findQueue(sql, reach, one.queue);
  return settingsText(one, queue) === settingsText(other, queue);
}

function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
