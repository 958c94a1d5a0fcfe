import type { Call, RefuseUrl } from "../../domain/call.ts";
import type { ExtractedPayloads } from "../../domain/json/outline.ts";
import { sliceMember } from "../../domain/raw-json.ts";
import type { Shape } from "../../domain/task.ts";
import type { TaskDraft, TaskRequest } from "../../domain/task-copies.ts";
import { checkDraft } from "../../domain/task-request.ts";
import { readDedupe } from "../schemas/dedupe.ts";
import { readSimulation } from "../schemas/simulation.ts";
import { type Field, nameIn } from "./field-row.ts";
import { type AskedField, TASK_FIELDS } from "./task-fields.ts";
import type { TaskBody } from "./task-models.ts";

export interface RequestContext {
  /** The whole body as it was written. */
  readonly text: string;
  /** What the text leaves out, if it is the outline of a large body. */
  readonly extracted: ExtractedPayloads | null;
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined;
  readonly now: Date;
  readonly refuseUrl: RefuseUrl;
}

/** Of the call, not of the task around it. */
const CALL: ReadonlySet<string> = new Set<keyof Call>(["url", "method", "headers", "body"]);

/**
 * Made once for each kind: what a task is that says nothing, and where each of the caller's words belongs. The table has a
 * row for every property of a draft; its type says so.
 */
interface Reader {
  readonly draft: TaskDraft;
  readonly names: Readonly<Record<AskedField, string>>;
  readonly properties: ReadonlyMap<string, { readonly name: string; readonly ofCall: boolean }>;
}

function createReader(shape: Shape): Reader {
  const draft: Record<string, unknown> = { shape, bodyIsJson: false };
  const call: Record<string, unknown> = {};
  const names: Record<string, string> = {};
  const properties = new Map<string, { name: string; ofCall: boolean }>();
  const fields: [string, Field][] = Object.entries(TASK_FIELDS);
  for (const [name, field] of fields) {
    if (field.ask === undefined) continue;
    const { default: value } = field.ask;
    const ofCall = CALL.has(name);
    (ofCall ? call : draft)[name] = typeof value === "function" ? value(shape) : value;
    const word = nameIn(field, shape);
    if (word === null) continue;
    // trusted keys: fields of the table.
    names[name] = word;
    properties.set(word, { name, ofCall });
  }
  // The draft is copied for every request. One that JSON.parse made is laid out like a literal; one that was filled name
  // by name, with so many of them, is a dictionary, and takes ten times as long to copy and to read.
  const empty: Reader["draft"] = JSON.parse(JSON.stringify({ ...draft, call }));
  return { draft: empty, names: names as Reader["names"], properties };
}

/** While it is being filled, by names that the table knows. */
type Writable<T> = { -readonly [K in keyof T]: T[K] } & Record<string, unknown>;

const READERS = { queue: createReader("queue"), direct: createReader("direct") };

/** Takes what has passed its schema; refuses what breaks a rule that no schema can say. */
export function readTask(body: TaskBody, context: RequestContext): TaskRequest {
  const shape = Object.hasOwn(body, "targetUrl") ? "direct" : "queue";
  const { draft: empty, names, properties } = READERS[shape];
  const call: Writable<Call> = { ...empty.call };
  const draft: Writable<TaskDraft> = { ...empty, call };
  for (const word in body) {
    const property = properties.get(word);
    if (property !== undefined) (property.ofCall ? call : draft)[property.name] = body[word];
  }
  if (shape === "queue") call.body = payloadOf(body, call, context);
  else if (typeof body.body === "object") {
    draft.bodyIsJson = true;
    call.body = payloadText(context, "body");
  }
  if (body.dedupe !== undefined) draft.dedupe = readDedupe(body.dedupe);
  if (body.simulate !== undefined) draft.simulate = readSimulation(body.simulate);
  const { idempotencyKey, now, refuseUrl } = context;
  return checkDraft(draft, { names, idempotencyKey, now, refuseUrl });
}

/** The payload's source text is what the target gets. */
function payloadOf(body: TaskBody, { method }: Call, context: RequestContext): string | null {
  if (body.payload === undefined) return method === "GET" ? null : "{}";
  return payloadText(context, "payload");
}

export function payloadText(
  { text, extracted }: Pick<RequestContext, "text" | "extracted">,
  name: string,
): string | null {
  const source = sliceMember(text, name);
  if (source === undefined) return null;
  return extracted === null ? source : extracted.textOf(source);
}
