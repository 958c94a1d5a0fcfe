import { formatId, parseId } from "../../domain/public-id.ts";
import { newUuid } from "../new-uuid.ts";

/** The same few ids are asked for again and again within milliseconds: answered, called, logged. */
const RECENT = 4096;
const recent = new Map<string, string>();

/** One id, two spellings: the row holds the UUID v7, `task_…` is the same 128 bits for people and URLs. */
export function formatTaskId(uuid: string): string {
  const known = recent.get(uuid);
  if (known !== undefined) return known;
  const id = formatId("task", uuid);
  if (recent.size >= RECENT) recent.clear();
  recent.set(uuid, id);
  return id;
}

/** Ids of one process rise strictly, so they also order tasks that were created in the same instant. */
export function newTaskUuid(): string {
  return newUuid();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Takes either spelling; null for anything that cannot be a task's id. */
export function parseTaskId(text: string): string | null {
  return UUID.test(text) ? text : parseId("task", text);
}
