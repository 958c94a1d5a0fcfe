import { invalid } from "../../domain/complaint.ts";
import { delayComplaints } from "../../domain/expiry.ts";
import { type Requester, requireScope } from "../../domain/identity/principal.ts";
import { namesCallback } from "../../domain/placeholders.ts";
import { Problem } from "../../domain/problem.ts";
import type { Reach } from "../../domain/reach.ts";
import { callSize } from "../../domain/stored-size.ts";
import type { Task } from "../../domain/task.ts";
import { type AcceptanceDeps, checkCallTokens } from "../../domain/task-acceptance.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import { type Correction, correctCall } from "../../domain/task-correction.ts";
import { formatTaskId } from "../../domain/task-id.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { hintText, sendHints } from "../../store/tasks/hints.ts";
import { resendNotification } from "../../store/tasks/notifications.ts";
import { type Cancelled, cancelTask } from "../../store/tasks/task-cancellations.ts";
import { type Corrected, correctTask } from "../../store/tasks/task-corrections.ts";
import { dismissTask } from "../../store/tasks/task-dismissals.ts";
import { removePendingTask, taskStatus } from "../../store/tasks/task-removals.ts";
import { type Renewal, retryTask } from "../../store/tasks/task-retries.ts";
import { recordChange } from "../audit/audit.ts";
import type { StorageQuota } from "../storage-quota.ts";

/** What a user may do with one task that exists. */
export interface TaskActions {
  remove(requester: Requester, id: string): Promise<void>;
  /** Resolves once the task has ended and no further call of it can start. */
  cancel(requester: Requester, id: string): Promise<Task>;
  /** Restarts a failed or cancelled task under its id, with another call if it is corrected. */
  retry(requester: Requester, id: string, renewal: Renewal, correction?: Correction | null): Promise<Task>;
  /** Marks a failed task as one that nobody needs to look at any more. */
  dismiss(requester: Requester, id: string): Promise<Task>;
  /** Resends the notifications of an ended task, after they were delivered or given up. */
  resendNotification(requester: Requester, id: string): Promise<Task>;
}

export interface TaskActionDeps {
  readonly database: Database;
  readonly get: (reach: Reach, id: string, sql?: Sql) => Promise<Task>;
  readonly storageQuota: Pick<StorageQuota, "reopen" | "store">;
  readonly checkCall: Pick<AcceptanceDeps, "checkReferences" | "refuseMentions" | "newCallback">;
  /** This node makes no calls: a worker notifies the third party of a task cancelled here. */
  readonly leavesJobs?: boolean;
  readonly changes: Pick<TaskChanges, "created" | "retried" | "replaced" | "dismissed" | "ended" | "removed">;
  /** Resolves once no node makes a call of the cancelled task. */
  readonly follow: (cancelled: Cancelled) => Promise<void>;
  /** A notification is due at once. */
  readonly onResent: () => void;
}

export function createTaskActions(deps: TaskActionDeps): TaskActions {
  const { database, get } = deps;

  /** The same checks as at creation. */
  async function checkCorrection(
    requester: Requester,
    task: Task,
    correction: Correction,
  ): Promise<Corrected> {
    const { teamId } = requester;
    const { call, bodyIsJson, flow } = correctCall(task, correction);
    await checkCallTokens(
      call,
      { teamId, sandbox: task.sandbox, requireTokenUse: () => requireScope(requester, "tokens:use") },
      deps.checkCall,
    );
    await deps.storageQuota.store(requester, callSize(call));
    const isAwaited = task.follow.waitForCallback || task.follow.pollConfig !== null;
    const isNamed = isAwaited && namesCallback(call);
    const callback = isNamed
      ? deps.checkCall.newCallback(teamId, task.id, { isNamed, isRepeatable: false })
      : null;
    return { ...correction, fields: correction.fields, bodyIsJson, flow, callback };
  }

  return {
    async remove(requester, id) {
      const removed = await database.transaction(async (sql) => {
        const task = await removePendingTask(sql, requester, id);
        if (task !== null)
          await recordChange(sql, requester, { action: "task.deleted", target: formatTaskId(id) });
        return task;
      });
      if (removed !== null) return deps.changes.removed(removed);
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
    async retry(requester, id, renewal, correction = null) {
      const before = await get(requester, id);
      if (renewal.delaySeconds > 0) refuseExpiry(before, renewal);
      const corrected = correction === null ? null : await checkCorrection(requester, before, correction);
      const { flow } = corrected ?? before;
      if (isRetryable(before)) await deps.storageQuota.reopen(requester, before.sandbox ? null : flow);
      const retried = await database.transaction(async (sql) => {
        if (corrected !== null) await correctTask(sql, requester, id, corrected);
        const begun = await retryTask(sql, requester, id, renewal);
        if (begun !== null)
          await recordChange(sql, requester, {
            action: "task.retried",
            target: formatTaskId(id),
            ...(corrected !== null && { detail: { corrected: corrected.fields } }),
          });
        // What was corrected is taken back.
        else if (corrected !== null) throw notRetried(await get(requester, id, sql));
        return begun;
      });
      const task = await get(requester, id);
      if (retried === null) throw notRetried(task);
      deps.changes.retried(retried);
      return task;
    },
    async dismiss(requester, id) {
      const dismissed = await database.transaction(async (sql) => {
        const done = await dismissTask(sql, requester, id);
        if (done !== null)
          await recordChange(sql, requester, { action: "task.dismissed", target: formatTaskId(id) });
        return done;
      });
      const task = await get(requester, id);
      if (dismissed === null) throw new Problem("task_not_failed", { status: task.status });
      deps.changes.dismissed(dismissed);
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

function isRetryable({ status }: Task): boolean {
  return status === "failed" || status === "cancelled";
}

function notRetried(task: Task): Problem {
  const { status, queue } = task;
  return isRetryable(task)
    ? new Problem("task_queue_gone", { name: queue })
    : new Problem("task_not_retryable", { status });
}

function notResent({
  shape,
  status,
  onCompleteUrl,
  onFailureUrl,
  completedAt,
  notifications,
}: Task): Problem {
  if (onCompleteUrl === null && onFailureUrl === null)
    return new Problem("notification_unset", {
      field: shape === "queue" ? "on_complete_url" : "onCompleteUrl",
    });
  if (completedAt === null) return new Problem("task_not_ended", { status });
  const time = notifications?.at(-1)?.nextAt?.toISOString() ?? "now";
  return new Problem("notification_pending", { time });
}
