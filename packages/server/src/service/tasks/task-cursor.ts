import { createHash } from "node:crypto";
import { canonicalText } from "../../domain/canonical-text.ts";
import type { Reach } from "../../domain/reach.ts";
import type { Order, TaskFilter } from "../../domain/task-filter.ts";
import { formatTaskId, parseTaskId } from "../../domain/task-id.ts";

/** The end of a page and the search it belongs to: in another search the position means nothing. */
export interface TaskCursor {
  /** The id of a task: only later ones are listed. */
  readonly after: string;
  readonly search: string;
}

/** 48 bits: not a secret, it only distinguishes searches. */
const DIGEST_CHARACTERS = 8;

/** The same for all pages of one search, whatever their length. */
export function searchDigest({ teamId, environment }: Reach, filter: TaskFilter, order: Order): string {
  const text = canonicalText({ teamId, environment, filter, order });
  return createHash("sha256").update(text).digest("base64url").slice(0, DIGEST_CHARACTERS);
}

export function formatCursor({ after, search }: TaskCursor): string {
  return `${formatTaskId(after)}.${search}`;
}

/** Null for an invalid cursor. */
export function parseCursor(text: string): TaskCursor | null {
  const [id = "", search = "", ...rest] = text.split(".");
  const after = parseTaskId(id);
  return after === null || search.length !== DIGEST_CHARACTERS || rest.length > 0 ? null : { after, search };
}
