import type { Task } from "@bellhop/sdk";
import { parseExact } from "../../data/exact-json.ts";
import { bodyOf, urlOf } from "../../data/task.ts";

export interface HeaderDraft {
  readonly name: string;
  readonly value: string;
}

export interface Draft {
  readonly shape: "queue" | "direct";
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderDraft[];
  readonly body: string;
  readonly queue: string;
  readonly delay: number;
  readonly priority: number;
  /** Empty, `callback`, or the id of a provider. */
  readonly after: string;
  readonly tags: readonly string[];
}

export const EMPTY: Draft = {
  shape: "queue",
  method: "POST",
  url: "http://127.0.0.1:9000/welcome",
  headers: [],
  body: '{ "user": 42 }',
  queue: "default",
  delay: 0,
  priority: 5,
  after: "",
  tags: [],
};

/** A task like one that there is, to be changed and sent again. */
export function draftOf(task: Task): Draft {
  return {
    shape: "targetUrl" in task ? "direct" : "queue",
    method: task.method,
    url: urlOf(task),
    headers: Object.entries(task.headers).map(([name, value]) => ({ name, value })),
    body: bodyOf(task) ?? "",
    queue: task.queue,
    delay: 0,
    priority: task.priority,
    after: task.provider ?? (task.waitForCallback === true ? "callback" : ""),
    tags: task.tags ?? [],
  };
}

/** Why it cannot be sent; null where it can. */
export function problemOf({ shape, body }: Draft): string | null {
  if (shape === "direct" || body.trim() === "") return null;
  return parsed(body) === undefined ? "This is not JSON" : null;
}

/** The request as the API takes it, in the words of its kind. */
export function bodyOfDraft(draft: Draft): Record<string, unknown> {
  const isDirect = draft.shape === "direct";
  const headers = draft.headers.filter(({ name }) => name !== "").map(({ name, value }) => [name, value]);
  return {
    queue: draft.queue,
    ...(isDirect ? { targetUrl: draft.url } : { webhook_url: draft.url }),
    ...(draft.method === "POST" ? {} : { method: draft.method }),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
    ...content(draft),
    ...(draft.delay > 0 ? { delay: draft.delay } : {}),
    ...(draft.priority === 5 ? {} : { priority: draft.priority }),
    ...(draft.after === "callback" ? { [isDirect ? "waitForCallback" : "wait_for_callback"]: true } : {}),
    ...(draft.after === "" || draft.after === "callback" ? {} : { provider: draft.after }),
    ...(draft.tags.length === 0 ? {} : { tags: draft.tags }),
  };
}

function content({ shape, body }: Draft): Record<string, unknown> {
  if (body.trim() === "") return {};
  const value = parsed(body);
  if (shape === "queue") return { payload: value };
  return { body: typeof value === "object" && value !== null ? value : body };
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
