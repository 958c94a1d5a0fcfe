import type { Call } from "../../domain/call.ts";
import { type FollowUp, MAX_WAIT_DEFAULT_SECONDS, type NewTask } from "../../domain/task.ts";

/** The part of a task after its first call. */
const FOLLOW = {
  provider: "text",
  poll_config: "jsonb",
  wait_for_callback: "boolean",
  max_wait_seconds: "integer",
} as const;

/** The creator's request, column by column, with types. It never changes, and is read with every task. */
const REQUEST_COLUMNS = {
  shape: "text",
  priority: "smallint",
  sandbox: "boolean",
  method: "text",
  url: "text",
  headers: "jsonb",
  ...FOLLOW,
  on_complete_url: "text",
  on_failure_url: "text",
  body_is_json: "boolean",
  sign: "boolean",
  tags: "text[]",
  metadata: "jsonb",
  message: "jsonb",
  expires_in_seconds: "integer",
  flow: "text",
  dedupe: "jsonb",
} as const;

/** Stored with the task, and read only on demand. */
const LAZY_COLUMNS = {
  body: "text",
  callback_hash: "bytea",
  callback_sealed: "bytea",
  idempotency_key: "text",
} as const;

/** Further values of the insert: the owner, the due time and the reserved slot. */
const ASKED = {
  team_id: "integer",
  id: "uuid",
  queue: "text",
  delay_seconds: "integer",
  run_at: "timestamptz",
  max_retries: "smallint",
  backoff: "text",
  retry_delay_seconds: "integer",
  retry_max_delay_seconds: "integer",
  no_retry_statuses: "smallint[]",
  timeout_seconds: "integer",
  slot_queue_id: "bigint",
  slot_epoch: "integer",
  request_hash: "text",
  repeat_callback: "text",
} as const;

const COPIED = Object.entries({ ...REQUEST_COLUMNS, ...LAZY_COLUMNS });

/** For an insert from JSON: the fields of each object, the copied columns and their values. */
export const INSERTED = {
  // Bytes are hexadecimal.
  record: [...Object.entries(ASKED), ...COPIED]
    .map(([name, type]) => `${name} ${type === "bytea" ? "text" : type}`)
    .join(", "),
  columns: COPIED.map(([name]) => name).join(", "),
  values: COPIED.map(([name, type]) => copiedValue(name, type)).join(", "),
};

/** What a replacement leaves as it is: see `replaceTasks`. */
const KEPT = ["shape", "sandbox", "callback_hash", "callback_sealed", "idempotency_key"];

/** For `update tasks t … from asked a`: everything that the request says. */
export const REPLACED = COPIED.filter(([name]) => !KEPT.includes(name))
  .map(([name, type]) => `${name} = ${copiedValue(`a.${name}`, type)}`)
  .join(", ");

/** False and null are omitted from the JSON. */
function copiedValue(name: string, type: string): string {
  if (type === "boolean") return `coalesce(${name}, false)`;
  return type === "bytea" ? `decode(${name}, 'hex')` : name;
}

/** Every value by name: this runs for every task, and a literal costs a fraction of a loop over the columns. */
export function insertedRow(
  task: NewTask,
  slot: { readonly queueId: number; readonly epoch: number } | null,
): Record<keyof typeof ASKED | keyof typeof REQUEST_COLUMNS | keyof typeof LAZY_COLUMNS, unknown> {
  const { call, follow, callback, idempotency } = task;
  const isPolled = follow.pollConfig !== null;
  const isWaiting = !isPolled && follow.waitForCallback;
  return {
    team_id: task.teamId,
    id: task.id,
    queue: task.queue,
    delay_seconds: task.delaySeconds,
    run_at: task.runAt ?? undefined,
    max_retries: task.maxRetries ?? undefined,
    backoff: task.backoff ?? undefined,
    retry_delay_seconds: task.retryDelaySeconds ?? undefined,
    retry_max_delay_seconds: task.retryMaxDelaySeconds ?? undefined,
    no_retry_statuses: task.noRetryStatuses ?? undefined,
    timeout_seconds: task.timeoutSeconds ?? undefined,
    slot_queue_id: slot?.queueId,
    slot_epoch: slot?.epoch,
    request_hash: idempotency?.requestHash,
    repeat_callback: idempotency?.callbackSealed ?? undefined,
    shape: task.shape,
    priority: task.priority,
    sandbox: task.sandbox,
    method: call.method,
    url: call.url,
    headers: hasOwnKeys(call.headers) ? call.headers : undefined,
    provider: isPolled ? (follow.provider ?? undefined) : undefined,
    poll_config: follow.pollConfig ?? undefined,
    wait_for_callback: isWaiting || undefined,
    max_wait_seconds: isWaiting ? follow.maxWaitSeconds : undefined,
    on_complete_url: task.onCompleteUrl ?? undefined,
    on_failure_url: task.onFailureUrl ?? undefined,
    body_is_json: task.bodyIsJson || undefined,
    sign: task.sign || undefined,
    tags: task.tags ?? undefined,
    metadata: task.metadata ?? undefined,
    message: task.message ?? undefined,
    expires_in_seconds: task.expiresInSeconds ?? undefined,
    flow: task.flow?.key,
    dedupe: task.dedupe === null ? undefined : { ...task.dedupe, callbackSealed: undefined },
    body: call.body ?? undefined,
    callback_hash: callback?.hash,
    callback_sealed: callback?.sealed ?? undefined,
    idempotency_key: idempotency?.key,
  };
}

/** The fields that the statements of `plain-tasks.ts` store. */
type StoredField =
  | "id"
  | "teamId"
  | "queue"
  | "shape"
  | "priority"
  | "call"
  | "bodyIsJson"
  | "sign"
  | "message"
  | "onCompleteUrl";

/** Every other field, with what it is in a plain task. The compiler asks for a new field here. */
const PLAIN_IF: { readonly [Field in Exclude<keyof NewTask, StoredField>]: (task: NewTask) => boolean } = {
  delaySeconds: (task) => task.delaySeconds === 0,
  runAt: (task) => task.runAt === null,
  idempotency: (task) => task.idempotency === null || task.idempotency.callbackSealed === null,
  tags: (task) => task.tags === null,
  metadata: (task) => task.metadata === null,
  onFailureUrl: (task) => task.onFailureUrl === null,
  dedupe: (task) => task.dedupe === null,
  callback: (task) => task.callback === null,
  simulate: (task) => task.simulate === null,
  flow: (task) => task.flow === null,
  sandbox: (task) => !task.sandbox,
  follow: (task) => task.follow.pollConfig === null && !task.follow.waitForCallback,
  expiresInSeconds: (task) => task.expiresInSeconds === null,
  maxRetries: (task) => task.maxRetries === null,
  backoff: (task) => task.backoff === null,
  retryDelaySeconds: (task) => task.retryDelaySeconds === null,
  retryMaxDelaySeconds: (task) => task.retryMaxDelaySeconds === null,
  noRetryStatuses: (task) => task.noRetryStatuses === null,
  timeoutSeconds: (task) => task.timeoutSeconds === null,
};
const PLAIN_CHECKS = Object.values(PLAIN_IF);

export function isPlain(task: NewTask): boolean {
  for (const check of PLAIN_CHECKS) if (!check(task)) return false;
  return true;
}

/** What `plain-flow-tasks.ts` stores: a plain task, except that it may have a flow and has no key. */
export function isPlainOfFlow(task: NewTask): boolean {
  return task.idempotency === null && (task.flow === null ? isPlain(task) : isPlain({ ...task, flow: null }));
}

export function hasOwnKeys(value: object): boolean {
  for (const _ in value) return true;
  return false;
}

export const FOLLOW_NAMES = Object.keys(FOLLOW).join(", ");
export const REQUEST_COLUMN_NAMES = Object.keys(REQUEST_COLUMNS).join(", ");

/** A row as read: flat, where a task has its call and its follow-up nested. */
export type Flat<T> = Omit<T, "call" | "follow"> & CallRow & FollowRow;
type CallRow = Omit<Call, "headers" | "body"> & { readonly headers: Call["headers"] | null };
type FollowRow = Omit<FollowUp, "maxWaitSeconds"> & { readonly maxWaitSeconds: number | null };

export function followOf({ provider, pollConfig, waitForCallback, maxWaitSeconds }: FollowRow): FollowUp {
  const waitSeconds = maxWaitSeconds ?? MAX_WAIT_DEFAULT_SECONDS;
  return { provider, pollConfig, waitForCallback, maxWaitSeconds: waitSeconds };
}
