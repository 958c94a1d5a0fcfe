import { type Principal, requireScope } from "../../domain/identity/principal.ts";
import type { Terms } from "../../domain/limits.ts";
import { callbackUrl } from "../../domain/placeholders.ts";
import { Problem } from "../../domain/problem.ts";
import type { Reach } from "../../domain/reach.ts";
import { storedSize } from "../../domain/stored-size.ts";
import type { CreatedTask, NewTask, Task } from "../../domain/task.ts";
import {
  type AcceptedRequest,
  acceptRequest,
  type CallbackUse,
  type TaskOrigin,
} from "../../domain/task-acceptance.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import { createdTaskOf } from "../../domain/task-copies.ts";
import type { Database, Sql } from "../../store/sql.ts";
import type { TakenKey } from "../../store/tasks/idempotency-keys.ts";
import { shownCall } from "../../store/tasks/message-redaction.ts";
import type { Accepted } from "../../store/tasks/task-intake.ts";
import { findTask } from "../../store/tasks/task-reads.ts";
import { SealError } from "../../vault/cipher.ts";
import type { Vault } from "../../vault/vault.ts";
import { newUuid } from "../new-uuid.ts";
import type { StorageQuota } from "../storage-quota.ts";
import { hashCallbackId, newCallbackId } from "./callback-id.ts";
import type { ProviderService } from "./provider-service.ts";
import { hashRequest } from "./same-request.ts";
import { createTaskActions, type TaskActionDeps, type TaskActions } from "./task-actions.ts";
import {
  type BatchItem,
  type BatchResult,
  createInOrder,
  createTogether,
  type PreparedTask,
} from "./task-batch.ts";
import { createTaskCreation } from "./task-creation.ts";
import { createDeduplication } from "./task-deduplication.ts";
import { listPage, type TaskPage, type TaskQuery } from "./task-list.ts";
import { createRecordReader, createSummaryReader } from "./task-reader.ts";

export interface AcceptedFrom extends TaskOrigin {
  readonly terms: Terms & { readonly teamId: number };
}

export interface TaskService extends TaskActions {
  create(principal: Principal, request: TaskRequest): Promise<CreatedTask>;
  /** In the order of the items. `together`: all in one commit or none, refused with the first refusal. */
  createMany(
    principal: Principal,
    items: readonly BatchItem[],
    together: boolean,
  ): Promise<readonly BatchResult[]>;
  /** Everything except storing it, for a task that does not come from a current request. */
  accept(origin: AcceptedFrom, request: TaskRequest): Promise<PreparedTask>;
  /** Refuses a request as `accept` does, for one that is not stored now: it takes nothing of what the plan counts. */
  check(origin: AcceptedFrom, request: TaskRequest): Promise<void>;
  get(principal: Principal, id: string): Promise<Task>;
  list(principal: Principal, query: TaskQuery): Promise<TaskPage>;
}

export function createTaskService(
  deps: {
    readonly database: Database;
    /** Resolves once the task is on disk; null if its queue does not exist or its idempotency key is taken. */
    readonly submit: (task: NewTask) => Promise<Accepted | null>;
    readonly storageQuota: Pick<StorageQuota, "admit" | "reopen" | "store">;
    /** Refuses if the disk has no room for another task. */
    readonly requireSpace?: () => void;
    readonly vault: Pick<Vault, "check" | "refuseMentions" | "sealText" | "openText" | "isOpen">;
    readonly providers: Pick<ProviderService, "find">;
    readonly publicUrl: () => string;
  } & Pick<TaskActionDeps, "leavesJobs" | "changes" | "follow" | "onResent">,
): TaskService {
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
  function readCallback(
    teamId: number,
    { taskId, callbackSealed }: Pick<TakenKey, "taskId" | "callbackSealed">,
  ): CreatedTask["callback"] {
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
    deps.requireSpace?.();
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
    const finish: PreparedTask["finish"] = (accepted) =>
      createdTaskOf(task, accepted, { call: shownCall(task.call, task.message), callback: shown });
    const prepared: PreparedTask = { task, finish };
    const looked = deps.storageQuota.admit(terms, storedSize(task), task.sandbox ? null : task.flow?.key);
    return looked === undefined ? prepared : looked.then(() => prepared);
  }

  async function get(reach: Reach, id: string, sql: Sql = database): Promise<Task> {
    const task = await findTask(sql, reach, id);
    if (task === null) throw new Problem("task_not_found");
    return task;
  }

  const { changes, submit } = deps;
  const deduplication = createDeduplication({ database, newCallback, changes, soon: setImmediate });
  const shared = { database, submit, deduplication, prepare, findProvider, readCallback, shownCallback };
  const single = createTaskCreation(shared, createRecordReader(database));
  const many = createTaskCreation(shared, createSummaryReader(database));

  return {
    create: single.create,
    createMany(principal, items, together) {
      const { replay, showJoined } = many;
      if (together)
        return createTogether(
          { database, replay, prepare, newCallback, showJoined, changes },
          principal,
          items,
        );
      return createInOrder(principal, items, {
        create: (request) => many.create(principal, request),
        joinEach: (requests) => many.joinEach(principal, requests),
      });
    },
    accept: async (origin, request) => accept(origin, request),
    async check(origin, request) {
      deps.requireSpace?.();
      await acceptRequest(request, origin, acceptance);
    },
    get: (principal, id) => get(principal, id),
    list: (principal, query) => listPage(database, principal, query),
    ...createTaskActions({ ...deps, get, checkCall: acceptance }),
  };
}
