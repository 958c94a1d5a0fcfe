import { formatId, parseId } from "./public-id.ts";
import type { Task } from "./task.ts";

/** One id with two spellings: the row holds the UUID v7, `task_…` is the same 128 bits. */
export function formatTaskId(uuid: string): string {
  return formatId("task", uuid);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Takes either spelling; null for anything that cannot be a task's id. */
export function parseTaskId(text: string): string | null {
  return UUID.test(text) ? text : parseId("task", text);
}

/** The id as the caller knows it: a queue task by `task_…`, a direct task by its UUID. */
export function publicTaskId({ shape, id }: Pick<Task, "shape" | "id">): string {
  return shape === "queue" ? formatTaskId(id) : id;
}
