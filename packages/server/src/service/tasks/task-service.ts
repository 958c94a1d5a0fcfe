import { createHash } from "node:crypto";
import type { Call } from "../../domain/call.ts";
import { type Principal, type Requester, requireScope } from "../../domain/identity/principal.ts";
import { callbackUrl, namesCallback } from "../../domain/placeholders.ts";
import type { PollConfig } from "../../domain/poll/poll-config.ts";
import { Problem } from "../../domain/problem.ts";
import type { FollowUp, NewTask, StoredCallback, Task, TaskStatus, TaskSummary } from "../../domain/task.ts";
import { formatTaskId } from "../../domain/task-id.ts";
import { vaultReferences } from "../../domain/vault-token.ts";
import { newUuid } from "../../service/new-uuid.ts";
import type { Database } from "../../store/sql.ts";
import { findTakenKey } from "../../store/tasks/idempotency-keys.ts";
import type { Accepted } from "../../store/tasks/task-intake.ts";
import { countTasks, findTask, listTasks } from "../../store/tasks/task-reads.ts";
import { removePendingTask, taskStatus } from "../../store/tasks/task-removals.ts";
import type { Vault } from "../../vault/vault.ts";
import { recordChange } from "../audit/audit.ts";
import { hashCallbackId, newCallbackId } from "./callback-id.ts";
import type { ProviderService } from "./provider-service.ts";

/** What a caller asks for. `provider` is a catalog id, `pollConfig` a configuration of the caller's own; never both. */
export interface TaskRequest
  extends Omit<NewTask, "teamId" | "id" | "sandbox" | "callback" | "follow" | "idempotency"> {
  readonly provider: string | null;
  readonly pollConfig: PollConfig | null;
  readonly waitForCallback: boolean;
  readonly maxWaitSeconds: number;
  readonly idempotencyKey: string | null;
  /** The request as it came: under one idempotency key it must be the same. */
  readonly requestText: string;
}

export interface CreatedTask {
  readonly id: string;
  /** `pending` for a new one. */
  readonly status: TaskStatus;
  readonly queue: string;
  readonly priority: number;
  readonly delaySeconds: number;
  readonly createdAt: Date;
  /** Shown here and nowhere else. Null if the task has none, or was created before. */
  readonly callback: { readonly id: string; readonly url: string } | null;
  /** The task of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
}

export interface TaskQuery {
  readonly queue: string | null;
  readonly status: TaskStatus | null;
  readonly limit: number;
  readonly offset: number;
  /** The id of a task: only older ones are listed. */
  readonly cursor: string | null;
}

export interface TaskPage {
  readonly tasks: readonly TaskSummary[];
  readonly total: number;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

export interface TaskService {
  create(principal: Principal, request: TaskRequest): Promise<CreatedTask>;
  get(principal: Principal, id: string): Promise<Task>;
  list(principal: Principal, query: TaskQuery): Promise<TaskPage>;
  remove(requester: Requester, id: string): Promise<void>;
}

export function createTaskService(deps: {
  readonly database: Database;
  /** Resolves once the task is on disk; null if its queue does not exist or its idempotency key is taken. */
  readonly submit: (task: NewTask) => Promise<Accepted | null>;
  readonly vault: Pick<Vault, "check" | "sealText">;
  readonly providers: Pick<ProviderService, "find">;
  readonly publicUrl: () => string;
}): TaskService {
  const { database, vault } = deps;

  function followUp({ provider, pollConfig, waitForCallback, maxWaitSeconds }: TaskRequest): FollowUp {
    const entry = provider === null ? null : deps.providers.find(provider);
    if (provider !== null && entry === null) throw new Problem("provider_unknown", { id: provider });
    return { provider, pollConfig: entry?.pollConfig ?? pollConfig, waitForCallback, maxWaitSeconds };
  }

  /** The call must be able to name its callback after a crash, on any node: then its id is kept, sealed. */
  function store(teamId: number, taskId: string, callbackId: string, call: Call): StoredCallback {
    const sealed = namesCallback(call) ? vault.sealText("callback", teamId, taskId, callbackId) : null;
    return { hash: hashCallbackId(callbackId), sealed: sealed?.toString("hex") ?? null };
  }

  /** The task that was created under this idempotency key before; null if there is none. */
  async function replay(
    { teamId, environment }: Principal,
    { idempotencyKey: key, requestText }: TaskRequest,
  ): Promise<CreatedTask | null> {
    const taken = key === null ? null : await findTakenKey(database, teamId, key, environment === "test");
    const task = taken === null ? null : await findTask(database, teamId, taken.taskId);
    if (taken === null || task === null) return null;
    if (taken.requestHash !== hashRequest(requestText))
      throw new Problem("idempotency_conflict", { key: key ?? "" });
    const delaySeconds = secondsBetween(task.createdAt, task.runAt);
    return {
      ...task,
      delaySeconds: task.attempts.length === 0 ? delaySeconds : 0,
      callback: null,
      replayed: true,
    };
  }

  async function submitNew(principal: Principal, request: TaskRequest): Promise<CreatedTask | null> {
    const { teamId, environment } = principal;
    const { call, shape, idempotencyKey: key, requestText } = request;
    const follow = followUp(request);
    const references = vaultReferences(call.headers);
    if (references.length > 0) {
      requireScope(principal, "tokens:use");
      await vault.check(teamId, references, call.url);
    }
    const id = newUuid();
    const isCalledBack = shape === "direct" || follow.waitForCallback || follow.pollConfig !== null;
    const callbackId = isCalledBack || namesCallback(call) ? newCallbackId() : null;
    const accepted = await deps.submit({
      teamId,
      id,
      shape,
      queue: request.queue,
      call,
      priority: request.priority,
      delaySeconds: request.delaySeconds,
      runAt: request.runAt,
      maxRetries: request.maxRetries,
      backoff: request.backoff,
      timeoutSeconds: request.timeoutSeconds,
      follow,
      onCompleteUrl: request.onCompleteUrl,
      sign: request.sign,
      callback: callbackId === null ? null : store(teamId, id, callbackId, call),
      idempotency: key === null ? null : { key, requestHash: hashRequest(requestText) },
      sandbox: environment === "test",
    });
    if (accepted === null) return null;
    const { createdAt, runAt } = accepted;
    return {
      id,
      status: "pending",
      queue: request.queue,
      priority: request.priority,
      delaySeconds: request.runAt === null ? request.delaySeconds : secondsBetween(createdAt, runAt),
      createdAt,
      callback:
        callbackId === null ? null : { id: callbackId, url: callbackUrl(deps.publicUrl(), callbackId) },
      replayed: false,
    };
  }

  /** The key may be taken or let go between two looks; whoever loses a round finds the winner in the next. */
  async function createOnce(principal: Principal, request: TaskRequest): Promise<CreatedTask | null> {
    for (let round = 0; round < 3; round += 1) {
      const created = (await replay(principal, request)) ?? (await submitNew(principal, request));
      if (created !== null) return created;
    }
    return null;
  }

  return {
    async create(principal, request) {
      const create = request.idempotencyKey === null ? submitNew : createOnce;
      const created = await create(principal, request);
      if (created === null) throw new Problem("queue_not_found", { name: request.queue });
      return created;
    },
    async get({ teamId }, id) {
      const task = await findTask(database, teamId, id);
      if (task === null) throw new Problem("task_not_found");
      return task;
    },
    async list({ teamId }, { queue, status, limit, offset, cursor }) {
      const filter = { teamId, queue, status };
      const [found, total] = await Promise.all([
        // One more than asked for tells whether there is a next page.
        listTasks(database, filter, { limit: limit + 1, offset, before: cursor }),
        countTasks(database, filter),
      ]);
      const tasks = found.slice(0, limit);
      const hasMore = found.length > limit;
      return { tasks, total, hasMore, nextCursor: hasMore ? (tasks.at(-1)?.id ?? null) : null };
    },
    async remove(requester, id) {
      const { teamId } = requester;
      const removed = await database.transaction(async (sql) => {
        const isGone = await removePendingTask(sql, teamId, id);
        if (isGone) await recordChange(sql, requester, { action: "task.deleted", target: formatTaskId(id) });
        return isGone;
      });
      if (removed) return;
      const status = await taskStatus(database, teamId, id);
      if (status === null) throw new Problem("task_not_found");
      throw new Problem("task_not_pending", { status });
    },
  };
}

function hashRequest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, Math.ceil((to.getTime() - from.getTime()) / 1000));
}
