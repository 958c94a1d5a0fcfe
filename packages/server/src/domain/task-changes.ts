import type { Message } from "./message.ts";
import type { FailureReason, NewTask } from "./task.ts";

/** How a task ended: completed, cancelled, or why it failed. */
export type Ending = "completed" | "cancelled" | FailureReason;

/** As much of a task as each of its writers knows. A claim is one: nothing is built to report a change. */
export interface ChangedTask {
  readonly teamId: number;
  readonly queueId: number;
  readonly id: string;
  /** Left out: a live task. */
  readonly sandbox?: boolean;
  /** The key of its flow. */
  readonly flow?: string | null;
  /** Left out: unknown, or no message. */
  readonly message?: Pick<Message, "lineOf"> | null;
}

export interface StoredTask {
  readonly queueId: number;
  /** It was stored active, and its call begins now: it waits for no worker. */
  readonly handedOff: boolean;
  readonly createdAt: Date;
  readonly runAt: Date;
}

export interface RetriedTask extends ChangedTask {
  readonly queue: string;
  /** The key of its flow. */
  readonly flow: string | null;
  readonly sandbox: boolean;
  /** When it was retried; for the wait until `runAt`. */
  readonly createdAt: Date;
  readonly runAt: Date;
}

export interface DismissedTask extends ChangedTask {
  readonly queue: string;
  /** The key of its flow. */
  readonly flow: string | null;
  readonly sandbox: boolean;
}

/** Called in the process that made the change, right after its commit and several times per task: it returns soon and never throws. */
export interface TaskListener {
  created?(task: NewTask, stored: StoredTask): void;
  /** An attempt failed, and another follows. */
  retrying?(task: ChangedTask): void;
  /** A user retried a task that had ended. It is pending again. */
  retried?(task: RetriedTask): void;
  /** A request replaced what a pending task was asked for. */
  replaced?(task: RetriedTask): void;
  /** A user dismissed a failed task. */
  dismissed?(task: DismissedTask): void;
  /** `notify`: a completion notification is due. */
  ended?(task: ChangedTask, ending: Ending, notify: boolean): void;
  /** A user deleted a pending task. */
  removed?(task: ChangedTask): void;
}

/**
 * Reports the changes of tasks within one process: each writer reports the rows that it has changed, and each listener subscribes
 * once, so no writer knows who listens. Changes that other processes make are not reported: a listener finds those in the
 * database.
 */
export interface TaskChanges extends Required<TaskListener> {
  /** For as long as the process runs. */
  subscribe(listener: TaskListener): void;
}

export function createTaskChanges(): TaskChanges {
  const onCreated: Required<TaskListener>["created"][] = [];
  const onRetrying: Required<TaskListener>["retrying"][] = [];
  const onRetried: Required<TaskListener>["retried"][] = [];
  const onReplaced: Required<TaskListener>["replaced"][] = [];
  const onDismissed: Required<TaskListener>["dismissed"][] = [];
  const onEnded: Required<TaskListener>["ended"][] = [];
  const onRemoved: Required<TaskListener>["removed"][] = [];
  return {
    subscribe({ created, retrying, retried, replaced, dismissed, ended, removed }) {
      if (created !== undefined) onCreated.push(created);
      if (retrying !== undefined) onRetrying.push(retrying);
      if (retried !== undefined) onRetried.push(retried);
      if (replaced !== undefined) onReplaced.push(replaced);
      if (dismissed !== undefined) onDismissed.push(dismissed);
      if (ended !== undefined) onEnded.push(ended);
      if (removed !== undefined) onRemoved.push(removed);
    },
    created(task, stored) {
      for (const listener of onCreated) listener(task, stored);
    },
    retrying(task) {
      for (const listener of onRetrying) listener(task);
    },
    retried(task) {
      for (const listener of onRetried) listener(task);
    },
    replaced(task) {
      for (const listener of onReplaced) listener(task);
    },
    dismissed(task) {
      for (const listener of onDismissed) listener(task);
    },
    ended(task, ending, notify) {
      for (const listener of onEnded) listener(task, ending, notify);
    },
    removed(task) {
      for (const listener of onRemoved) listener(task);
    },
  };
}

/** Calls the same function for every change. */
export function anyChange(listener: () => void): TaskListener {
  return {
    created: listener,
    retrying: listener,
    retried: listener,
    replaced: listener,
    dismissed: listener,
    ended: listener,
  };
}
