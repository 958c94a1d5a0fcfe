import type { NewTask } from "../domain/task.ts";
import type { ChangedTask, StoredTask, TaskChanges } from "../domain/task-changes.ts";
import type { Returned } from "../store/tasks/task-returns.ts";
import { turnOf } from "../store/tasks/turns.ts";
import type { Actors } from "./actors.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Flows, NoticeOfFlow } from "./flows.ts";
import type { SayHint } from "./hints.ts";
import type { LocalQueues } from "./local-queues.ts";
import type { EngineMeter } from "./meter.ts";

/** Tells the workers about tasks that this process made pending: created, retried and returned ones. */
export function createWaitingTasks(deps: {
  readonly changes: TaskChanges;
  readonly actors: Pick<Actors, "wake">;
  readonly dispatcher: Pick<Dispatcher, "notice">;
  readonly flows: Pick<Flows, "notice" | "taskEnded">;
  readonly localQueues: Pick<LocalQueues, "find">;
  readonly hint: SayHint;
  readonly meter: EngineMeter;
  /** A task of this node is due then. */
  readonly waitFor: (runAt: Date, flow: string | null) => void;
}): {
  readonly onReturned: (returned: readonly Returned[]) => void;
  /** A task of this queue is due; null: it has no flow. */
  readonly due: (teamId: number, queue: string, flow: string | null) => void;
} {
  const { changes, dispatcher } = deps;

  function onWaiting(
    { teamId, queue, sandbox }: Pick<NewTask, "teamId" | "queue" | "sandbox">,
    flow: string | null,
    { createdAt, runAt }: Pick<StoredTask, "createdAt" | "runAt">,
    about: NoticeOfFlow = {},
  ): void {
    if (sandbox) deps.actors.wake("sandbox");
    else if (runAt > createdAt) deps.waitFor(runAt, flow);
    else due(teamId, queue, flow, about);
  }

  function due(teamId: number, queue: string, flow: string | null, about: NoticeOfFlow = {}): void {
    const grant = deps.localQueues.find(teamId, queue)?.grant;
    // The line of an ordered queue decides whose turn it is, whatever flow the task has.
    if (flow !== null && !grant?.ordered) {
      deps.flows.notice(teamId, flow, queue, about);
      return;
    }
    dispatcher.notice(teamId, queue, 1);
    // A worker that holds all slots needs no other worker.
    if (grant == null || grant.slots < grant.concurrency) deps.hint({ kind: "due", teamId, queue });
  }

  function onEnded(task: ChangedTask): void {
    if (!task.sandbox) deps.flows.taskEnded(task);
  }

  changes.subscribe({
    created(task, stored) {
      if (stored.handedOff) return;
      const turn = turnOf({ priority: task.priority, runAt: stored.runAt });
      onWaiting(task, task.flow?.key ?? null, stored, { isNew: true, turn });
    },
    retried: (task) => onWaiting(task, task.flow, task),
    replaced: (task) => onWaiting(task, task.flow, task),
    // A strictly ordered line that it blocked goes on.
    dismissed({ teamId, queue, flow, sandbox }) {
      if (!sandbox) due(teamId, queue, flow);
    },
    ended: onEnded,
    removed: onEnded,
  });

  return {
    due,
    onReturned(returned) {
      for (const task of returned) {
        deps.meter.attemptLost("interrupted");
        if (task.failure === null) due(task.teamId, task.queue, task.flow);
        else changes.ended(task, task.failure, task.notify);
      }
    },
  };
}
