import { invalid } from "../../domain/complaint.ts";
import { delayComplaints } from "../../domain/expiry.ts";
import { type Principal, type Requester, requireScope } from "../../domain/identity/principal.ts";
import type { Terms } from "../../domain/limits.ts";
import { callbackUrl } from "../../domain/placeholders.ts";
import { Problem } from "../../domain/problem.ts";
import type { Reach } from "../../domain/reach.ts";
import { type CreatedTask, makeCreatedTask, type NewTask, type Task } from "../../domain/task.ts";
import {
  type AcceptedRequest,
  acceptRequest,
  type CallbackUse,
  followUpOf,
  type TaskOrigin,
} from "../../domain/task-acceptance.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import { formatTaskId } from "../../domain/task-id.ts";
import type { TaskRequest } from "../../domain/task-request.ts";
import type { Database } from "../../store/sql.ts";
import { hintText, sendHints } from "../../store/tasks/hints.ts";
import { findTakenKey, type TakenKey } from "../../store/tasks/idempotency-keys.ts";
import { resendNotification } from "../../store/tasks/notifications.ts";
import { type Cancelled, cancelTask } from "../../store/tasks/task-cancellations.ts";
import type { Accepted } from "../../store/tasks/task-intake.ts";
import { findTask } from "../../store/tasks/task-reads.ts";
import { removePendingTask, taskStatus } from "../../store/tasks/task-removals.ts";
import { type Renewal, retryTask } from "../../store/tasks/task-retries.ts";
import { SealError } from "../../vault/cipher.ts";
import type { Vault } from "../../vault/vault.ts";
import { recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import { type StorageQuota, storedSize } from "../storage-quota.ts";
import { hashCallbackId, newCallbackId } from "./callback-id.ts";
import type { ProviderService } from "./provider-service.ts";
import { hashRequest, isRepeated } from "./same-request.ts";
import {
  type BatchItem,
  type BatchResult,
  createEach,
  createTogether,
  type PreparedTask,
} from "./task-batch.ts";
import { listPage, type TaskPage, type TaskQuery } from "./task-list.ts";

/** Freeing space takes a while. */
const SPACE_SECONDS = 30;

export interface AcceptedFrom extends TaskOrigin {
  readonly terms: Terms & { readonly teamId: number };
}

export interface TaskService {
  create(principal: Principal, request: TaskRequest): Promise<CreatedTask>;
  /** In the order of the items. `together`: all in one commit or none, refused with the first refusal. */
  createMany(
    principal: Principal,
    items: readonly BatchItem[],
    together: boolean,
  ): Promise<readonly BatchResult[]>;
  /** Everything except storing it, for a task that does not come from a current request. */
  accept(origin: AcceptedFrom, request: TaskRequest): Promise<PreparedTask>;
  get(principal: Principal, id: string): Promise<Task>;
  list(principal: Principal, query: TaskQuery): Promise<TaskPage>;
  remove(requester: Requester, id: string): Promise<void>;
  /** Resolves once the task has ended and no further call of it can start. */
  cancel(requester: Requester, id: string): Promise<Task>;
  /** Restarts a failed or cancelled task under its id. */
  retry(requester: Requester, id: string, renewal: Renewal): Promise<Task>;
  /** Resends the notification of an ended task, after it was delivered or given up. */
  resendNotification(requester: Requester, id: string): Promise<Task>;
}

export function createTaskService(deps: {
  readonly database: Database;
  /** Resolves once the task is on disk; null if its queue does not exist or its idempotency key is taken. */
  readonly submit: (task: NewTask) => Promise<Accepted | null>;
  readonly storageQuota: Pick<StorageQuota, "admit">;
  /** The disk has room for another task. */
  readonly hasSpace?: () => boolean;
  readonly vault: Pick<Vault, "check" | "refuseMentions" | "sealText" | "openText" | "isOpen">;
  readonly providers: Pick<ProviderService, "find">;
  readonly publicUrl: () => string;
  /** This node makes no calls: a worker notifies the third party of a task cancelled here. */
  readonly leavesJobs?: boolean;
  readonly changes: Pick<TaskChanges, "created" | "retried" | "ended">;
  /** Resolves once no node makes a call of the cancelled task. */
  readonly follow: (cancelled: Cancelled) => Promise<void>;
  /** A notification is due at once. */
  readonly onResent: () => void;
}): TaskService {
  const { database, vault } = deps;
  const findProvider = deps.providers.find;

  /** Without a vault a call with a placeholder is refused; a repeated request just omits the id. */
  function newCallback(teamId: number, taskId: string, { isNamed, isRepeatable }: CallbackUse) {
    const id = newCallbackId();
    const isKept = isNamed || (isRepeatable && vault.isOpen);
    const sealed = isKept ? vault.sealText("callback", teamId, taskId, id).toString("hex") : null;
    return { id, hash: hashCallbackId(id), sealed };
  }

  const shownCallback = (id: string) => ({ id, url: callbackUrl(deps.publicUrl(), id) });

  /** As in the answer to the first request. Null if it was not stored, or its key is missing. */
  function readCallback(teamId: number, { taskId, callbackSealed }: TakenKey): CreatedTask["callback"] {
    if (callbackSealed === null || !vault.isOpen) return null;
    try {
      return shownCallback(vault.openText("callback", teamId, taskId, callbackSealed));
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }

  const acceptance = {
    findProvider,
    checkReferences: vault.check,
    refuseMentions: vault.refuseMentions,
    newTaskId: newUuid,
    newCallback,
  };

  /** The earlier task with this idempotency key; null if there is none. */
  async function replay(principal: Principal, request: TaskRequest): Promise<CreatedTask | null> {
    const { idempotencyKey: key } = request;
    const { teamId, environment } = principal;
    const taken = key === null ? null : await findTakenKey(database, teamId, key, environment === "test");
    const task = taken === null ? null : await findTask(database, principal, taken.taskId);
    if (taken === null || task === null) return null;
    if (!(await isRepeated(database, principal, request, { ...taken, task })))
      throw new Problem("idempotency_conflict", { key: key ?? "" });
    return { callback: readCallback(teamId, taken), replayed: true, ...task };
  }

  function prepare(principal: Principal, request: TaskRequest): PreparedTask | Promise<PreparedTask> {
    const { teamId, environment } = principal;
    const { idempotencyKey: key } = request;
    const origin = {
      teamId,
      sandbox: environment === "test",
      terms: principal,
      idempotency: key === null ? null : { key, requestHash: hashRequest(request) },
      requireTokenUse: () => requireScope(principal, "tokens:use"),
    };
    return accept(origin, request);
  }

  /** No promise if no database query is needed: nearly always. */
  function accept(origin: AcceptedFrom, request: TaskRequest): PreparedTask | Promise<PreparedTask> {
    if (deps.hasSpace?.() === false) throw new Problem("space_low", {}, { retryAfterSeconds: SPACE_SECONDS });
    const accepted = acceptRequest(request, origin, acceptance);
    return accepted instanceof Promise
      ? accepted.then((made) => admit(origin, made))
      : admit(origin, accepted);
  }

  function admit(
    { terms }: AcceptedFrom,
    { task, callback }: AcceptedRequest,
  ): PreparedTask | Promise<PreparedTask> {
    const shown = callback && shownCallback(callback.id);
    const prepared: PreparedTask = { task, finish: (accepted) => makeCreatedTask(task, accepted, shown) };
    const looked = deps.storageQuota.admit(terms, storedSize(task));
    return looked === undefined ? prepared : looked.then(() => prepared);
  }

  async function submitNew(principal: Principal, request: TaskRequest): Promise<CreatedTask | null> {
    const prepared = prepare(principal, request);
    const { task, finish } = prepared instanceof Promise ? await prepared : prepared;
    const accepted = await deps.submit(task);
    return accepted === null ? null : finish(accepted);
  }

  /**
   * Nearly every key is new, and the insert detects a taken one: the key is looked up only if it is taken, or the
   * request would be refused for a reason other than an unreachable database. The key may be taken or freed between two
   * lookups; the request that loses a round finds the winner in the next.
   */
  async function createOnce(principal: Principal, request: TaskRequest): Promise<CreatedTask | null> {
    // Refused regardless of the key, like every other mistake in the request.
    followUpOf(request, findProvider);
    for (let round = 0; round < 3; round += 1) {
      let found: CreatedTask | null;
      try {
        found = (await submitNew(principal, request)) ?? (await replay(principal, request));
      } catch (refusal) {
        const isLooked = refusal instanceof Problem && refusal.code !== "database_away";
        found = isLooked ? await replay(principal, request) : null;
        if (found === null) throw refusal;
      }
      if (found !== null) return found;
    }
    return null;
  }

  function create(principal: Principal, request: TaskRequest): Promise<CreatedTask> {
    const submitted = (request.idempotencyKey === null ? submitNew : createOnce)(principal, request);
    return submitted.then((created) => {
      if (created === null) throw new Problem("queue_not_found", { name: request.queue });
      return created;
    });
  }

  async function get(reach: Reach, id: string): Promise<Task> {
    const task = await findTask(database, reach, id);
    if (task === null) throw new Problem("task_not_found");
    return task;
  }

  return {
    create,
    createMany(principal, items, together) {
      if (!together) return createEach(items, (request) => create(principal, request));
      return createTogether({ database, replay, prepare, changes: deps.changes }, principal, items);
    },
    accept: async (origin, request) => accept(origin, request),
    get,
    list: (principal, query) => listPage(database, principal, query),
    async remove(requester, id) {
      const removed = await database.transaction(async (sql) => {
        const isGone = await removePendingTask(sql, requester, id);
        if (isGone) await recordChange(sql, requester, { action: "task.deleted", target: formatTaskId(id) });
        return isGone;
      });
      if (removed) return;
      const status = await taskStatus(database, requester, id);
      if (status === null) throw new Problem("task_not_found");
      throw new Problem("task_not_pending", { status });
    },
    async cancel(requester, id) {
      const cancelled = await database.transaction(async (sql) => {
        const ended = await cancelTask(sql, requester, id, deps.leavesJobs);
        if (ended === null) return null;
        await recordChange(sql, requester, { action: "task.cancelled", target: formatTaskId(id) });
        if (ended.held !== null) await sendHints(sql, [hintText({ kind: "void", claim: ended.held }, 0)]);
        return ended;
      });
      if (cancelled === null) {
        const { status } = await get(requester, id);
        throw new Problem("task_ended", { status });
      }
      deps.changes.ended(cancelled, "cancelled", cancelled.notify);
      await deps.follow(cancelled);
      return get(requester, id);
    },
    async retry(requester, id, renewal) {
      if (renewal.delaySeconds > 0) refuseExpiry(await get(requester, id), renewal);
      const retried = await database.transaction(async (sql) => {
        const begun = await retryTask(sql, requester, id, renewal);
        if (begun !== null)
          await recordChange(sql, requester, { action: "task.retried", target: formatTaskId(id) });
        return begun;
      });
      const task = await get(requester, id);
      if (retried === null) throw notRetried(task);
      deps.changes.retried(retried);
      return task;
    },
    async resendNotification(requester, id) {
      const isResent = await database.transaction(async (sql) => {
        const isDue = await resendNotification(sql, requester, id);
        if (isDue)
          await recordChange(sql, requester, {
            action: "task.notification_resent",
            target: formatTaskId(id),
          });
        return isDue;
      });
      const task = await get(requester, id);
      if (!isResent) throw notResent(task);
      deps.onResent();
      return task;
    },
  };
}

function refuseExpiry({ shape, expiresInSeconds }: Task, { delaySeconds }: Renewal): void {
  const expiryField = shape === "queue" ? "expires_in" : "expiresIn";
  const complaints = delayComplaints("delay", delaySeconds, expiryField, expiresInSeconds);
  if (complaints.length > 0) throw invalid(complaints);
}

function notRetried({ status, queue }: Task): Problem {
  return status === "failed" || status === "cancelled"
    ? new Problem("task_queue_gone", { name: queue })
    : new Problem("task_not_retryable", { status });
}

function notResent({ shape, status, onCompleteUrl, completedAt, notifications }: Task): Problem {
  if (onCompleteUrl === null)
    return new Problem("notification_unset", {
      field: shape === "queue" ? "on_complete_url" : "onCompleteUrl",
    });
  if (completedAt === null) return new Problem("task_not_ended", { status });
  const time = notifications?.at(-1)?.nextAt?.toISOString() ?? "now";
  return new Problem("notification_pending", { time });
}
