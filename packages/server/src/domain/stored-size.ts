import type { Call } from "./call.ts";
import type { NewTask } from "./task.ts";

/** The fixed columns of a row with its index entries. */
const TASK_BYTES = 350;
const TAG_BYTES = 150;
const KEY_BYTES = 200;
/** Quotes, colon and comma. */
const ENTRY_BYTES = 6;

/**
 * The approximate storage of a task with its tags and keys, until the database measures it: from the lengths of its
 * texts, because every creation asks for it.
 */
export function storedSize(
  task: Pick<
    NewTask,
    | "call"
    | "tags"
    | "idempotency"
    | "metadata"
    | "message"
    | "dedupe"
    | "onCompleteUrl"
    | "onFailureUrl"
    | "flow"
    | "follow"
    | "simulate"
  >,
): number {
  const {
    tags,
    idempotency,
    metadata,
    message,
    dedupe,
    onCompleteUrl,
    onFailureUrl,
    flow,
    follow,
    simulate,
  } = task;
  let size = TASK_BYTES + callSize(task.call);
  size += (onCompleteUrl?.length ?? 0) + (onFailureUrl?.length ?? 0) + (flow?.key.length ?? 0);
  size += simulate?.body.length ?? 0;
  if (follow.pollConfig !== null && follow.provider === null)
    size += JSON.stringify(follow.pollConfig).length;
  if (metadata !== null) size += textsSize(metadata);
  if (message !== null) size += JSON.stringify(message).length;
  if (dedupe !== null) size += KEY_BYTES + 2 * dedupe.key.length;
  if (tags !== null) for (const tag of tags) size += TAG_BYTES + 3 * tag.length;
  if (idempotency !== null) size += KEY_BYTES + 3 * idempotency.key.length;
  return size;
}

export function callSize({ url, headers, body }: Call): number {
  return url.length + (body?.length ?? 0) + textsSize(headers);
}

function textsSize(texts: Readonly<Record<string, string>>): number {
  let size = 0;
  for (const name in texts) size += ENTRY_BYTES + name.length + (texts[name]?.length ?? 0);
  return size;
}
