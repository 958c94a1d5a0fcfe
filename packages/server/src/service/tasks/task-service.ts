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
  followUpOf,
  type TaskOrigin,
} from "../../domain/task-acceptance.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import { createdTaskOf } from "../../domain/task-copies.ts";
import type { Database } from "../../store/sql.ts";
import { findTakenKey, type TakenKey } from "../../store/tasks/idempotency-keys.ts";
import { shownCall } from "../../store/tasks/message-redaction.ts";
import type { Accepted } from "../../store/tasks/task-intake.ts";
import { findTask } from "../../store/tasks/task-reads.ts";
import { SealError } from "../../vault/cipher.ts";
import type { Vault } from "../../vault/vault.ts";
import { newUuid } from "../new-uuid.ts";
import type { StorageQuota } from "../storage-quota.ts";
import { hashCallbackId, newCallbackId } from "./callback-id.ts";
import type { ProviderService } from "./provider-service.ts";
import { whyRefused } from "./refusal.ts";
import { hashRequest, isRepeated } from "./same-request.ts";
import { createTaskActions, type TaskActionDeps, type TaskActions } from "./task-actions.ts";
import {
  type BatchItem,
  type BatchResult,
  createInOrder,
  createTogether,
  type PreparedTask,
  settleInTurns,
  toResults,
} from "./task-batch.ts";
import { createDeduplication } from "./task-deduplication.ts";
import type { Joined } from "./task-joins.ts";
import { listPage, type TaskPage, type TaskQuery } from "./task-list.ts";
import { createTaskReader } from "./task-reader.ts";

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

  const repeated = createTaskReader(database);
  const deduplication = createDeduplication({ database, newCallback, changes: deps.changes });

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
    const task = taken === null ? null : await repeated.find(principal, taken.taskId);
    if (taken === null || task === null) return null;
    if (!(await isRepeated(database, principal, request, { ...taken, task })))
      throw new Problem("idempotency_conflict", { key: key ?? "" });
    return { callback: readCallback(teamId, taken), replayed: true, joined: null, ...task };
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

  /**
   * Answers with `otherwise()` if the queue does not exist or the idempotency key is taken. The promises are chained, because an
   * await would create another one for every task.
   */
  function submitNew<Otherwise extends null = never>(
    principal: Principal,
    request: TaskRequest,
    otherwise: () => Otherwise | Promise<Otherwise>,
  ): Promise<CreatedTask | Otherwise> {
    const store = (made: PreparedTask): Promise<CreatedTask | Otherwise> => {
      const { task, finish } = made;
      if (task.dedupe === null)
        return deps.submit(task).then((accepted) => (accepted === null ? otherwise() : finish(accepted)));
      const joined = join(principal, request, made, deduplication.submit(task));
      return joined.then((created) => created ?? otherwise());
    };
    try {
      const prepared = prepare(principal, request);
      return prepared instanceof Promise ? prepared.then(store) : store(prepared);
    } catch (refusal) {
      return Promise.reject(refusal);
    }
  }

  /** The answer to a request with a deduplication key. Null if its idempotency key is taken. */
  async function join(
    principal: Principal,
    request: TaskRequest,
    { finish }: PreparedTask,
    joining: Promise<Joined>,
  ): Promise<CreatedTask | null> {
    const joined = await joining;
    const created = joined === null ? null : await showJoined(principal, joined, finish);
    // The earlier task was deleted before it was read: its key is free.
    return created === "gone" ? submitNew(principal, request, () => null) : created;
  }

  async function showJoined(
    principal: Principal,
    joined: Exclude<Joined, null>,
    finish: PreparedTask["finish"],
  ): Promise<CreatedTask | "gone"> {
    if (joined instanceof Problem) throw joined;
    if (joined.kind === "created") return finish(joined.accepted);
    const { kind, taskId } = joined;
    const task = await repeated.find(principal, taskId);
    if (task === null) return "gone";
    const shown = { replayed: false, joined: kind } as const;
    if (joined.kind === "deduplicated") return { ...task, ...shown, callback: null };
    const { callbackId, callbackSealed } = joined;
    const sealed = callbackSealed === null ? null : Buffer.from(callbackSealed, "hex");
    const callback =
      callbackId === null
        ? readCallback(principal.teamId, { taskId, callbackSealed: sealed })
        : shownCallback(callbackId);
    return { ...task, ...shown, callback };
  }

  /** The items of a batch that have deduplication keys, in their order: each is submitted after those before it. */
  async function joinEach(principal: Principal, requests: readonly TaskRequest[]): Promise<BatchResult[]> {
    const prepared = await settleInTurns(principal, requests, (request) => {
      followUpOf(request, findProvider);
      return prepare(principal, request);
    });
    const created = requests.map(async (request, index) => {
      const made = prepared[index];
      if (made?.status !== "fulfilled") {
        if (request.idempotencyKey === null) throw made?.reason;
        return create(principal, request);
      }
      const joined = await join(principal, request, made.value, deduplication.submit(made.value.task));
      return joined ?? (await replay(principal, request)) ?? create(principal, request);
    });
    return toResults(await Promise.allSettled(created));
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
        found = (await submitNew(principal, request, () => null)) ?? (await replay(principal, request));
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
    const refused = () => refuse(principal, request);
    if (request.idempotencyKey === null) return submitNew(principal, request, refused);
    return createOnce(principal, request).then((created) => created ?? refused());
  }

  async function refuse(principal: Principal, request: TaskRequest): Promise<never> {
    throw await whyRefused(database, principal, request);
  }

  async function get(reach: Reach, id: string): Promise<Task> {
    const task = await findTask(database, reach, id);
    if (task === null) throw new Problem("task_not_found");
    return task;
  }

  return {
    create,
    createMany(principal, items, together) {
      if (together)
        return createTogether(
          { database, replay, prepare, newCallback, showJoined, changes: deps.changes },
          principal,
          items,
        );
      return createInOrder(principal, items, {
        create: (request) => create(principal, request),
        joinEach: (requests) => joinEach(principal, requests),
      });
    },
    accept: async (origin, request) => accept(origin, request),
    async check(origin, request) {
      deps.requireSpace?.();
      await acceptRequest(request, origin, acceptance);
    },
    get,
    list: (principal, query) => listPage(database, principal, query),
    ...createTaskActions({ ...deps, get, checkCall: acceptance }),
  };
}
