import type { NewTask } from "../domain/task.ts";
import type { ChangedTask, StoredTask, TaskChanges } from "../domain/task-changes.ts";
import { atMost, type Time } from "../domain/time.ts";
import { NO_QUEUE, parseHint } from "../store/tasks/hints.ts";
import type { Cancelled } from "../store/tasks/task-cancellations.ts";
import type { Accepted } from "../store/tasks/task-intake.ts";
import { turnOf } from "../store/tasks/turns.ts";
import { type Actors, createActors } from "./actors.ts";
import { POLL_MS } from "./alarm.ts";
import { createDroppedClaims } from "./dropped-claims.ts";
import type { EngineDatabases } from "./engine-databases.ts";
import { createHints } from "./hints.ts";
import { createIntake } from "./intake.ts";
import type { Log } from "./log.ts";
import type { EngineMeter } from "./meter.ts";
import { createOrderedQueues } from "./ordered-queues.ts";
import { createUnanswered } from "./unanswered.ts";

/** The longest that a stop waits for a silent database to store accepted tasks. */
const LAST_INTAKE_MS = 2_000;
/** Workers find a task that is due later than this by polling, even if its commit takes long. */
const SOON_MS = POLL_MS + 1_000;

type Waiting = Pick<NewTask, "teamId" | "queue" | "sandbox">;

/** The part of the engine that an `api` node has. */
export interface FrontDesk {
  readonly actors: Actors;
  submit(task: NewTask): Promise<Accepted | null>;
  /** A completion notification is due at once. */
  notificationDue(): void;
  /** Resolves once the worker confirms that it makes no call of the cancelled task, or after a second without an answer. */
  follow(cancelled: Cancelled): Promise<void>;
  /** This node has slots of the queue, but the team has no capacity for another call. */
  isCrowded(teamId: number, queue: string): boolean;
  /** Handles a message of another node on the channel. */
  hear(message: string): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Stores tasks for workers to execute. It has no lease and no slots: it inserts every task as pending and sends the
 * workers a hint. They find the task by polling if the hint is lost. It receives only confirmations of dropped claims.
 */
export function createFrontDesk(deps: {
  readonly databases: Pick<EngineDatabases, "intake" | "chores">;
  /** The number under which it counts stored tasks: below 0, to differ from every worker. */
  readonly number: number;
  readonly log: Log;
  readonly meter: EngineMeter;
  readonly changes: TaskChanges;
  readonly time: Time;
}): FrontDesk {
  const { databases, time, log, meter, changes } = deps;
  const actors = createActors({ time, log });
  const say = createHints({ sql: databases.chores, workerId: () => 0, hasReceivers: () => true, log });
  const dropped = createDroppedClaims({ time, send: say });
  const intake = createIntake({
    sql: databases.intake,
    lease: { workerId: deps.number },
    dispatcher: { reserve: () => null, giveBack() {}, finish() {} },
    unanswered: createUnanswered(time),
    start() {},
    release: async () => {},
    changes,
    time,
    meter,
  });
  createOrderedQueues({
    sql: databases.chores,
    changes,
    actors,
    wake: (teamId, queue) => say({ kind: "due", teamId, queue }),
    onUnordered() {},
  });
  changes.subscribe({
    created: (task, stored) =>
      onWaiting(
        task,
        task.flow?.key ?? null,
        stored,
        turnOf({ priority: task.priority, runAt: stored.runAt }),
      ),
    retried: (task) => onWaiting(task, task.flow, task),
    replaced: (task) => onWaiting(task, task.flow, task),
    dismissed(task) {
      if (!task.sandbox) say({ kind: "due", teamId: task.teamId, queue: task.queue });
      freeLine(task);
    },
    removed: freeLine,
    ended(task, _ending, notify) {
      freeLine(task);
      if (notify) notificationDue();
    },
  });

  function onWaiting(
    { teamId, queue, sandbox }: Waiting,
    flow: string | null,
    { runAt, createdAt }: Pick<StoredTask, "createdAt" | "runAt">,
    turn?: number,
  ): void {
    const waitMs = runAt.getTime() - createdAt.getTime();
    if (sandbox || waitMs > SOON_MS) return;
    if (flow !== null && waitMs <= 0) say({ kind: "flow", teamId, queue, flow, turn });
    else say({ kind: waitMs > 0 ? "later" : "due", teamId, queue });
  }

  /** The task may have held the line of its flow. */
  function freeLine({ teamId, flow, sandbox }: ChangedTask): void {
    if (flow != null && !sandbox) say({ kind: "flow", teamId, queue: NO_QUEUE, flow });
  }

  /** For no specific queue: every worker's courier checks. */
  function notificationDue(): void {
    say({ kind: "ended", teamId: 0, queue: "-" });
  }

  return {
    actors,
    submit: (task) => intake.submit(task),
    notificationDue,
    async follow({ teamId, id: taskId, held, job }) {
      if (job?.plan.cancel !== undefined) say({ kind: "job", teamId, taskId });
      if (held !== null) await dropped.ask(held);
    },
    hear(message) {
      const hint = parseHint(message);
      if (hint?.kind === "dropped") dropped.hear(hint.claim);
      else if (hint?.kind === "queue") actors.wake("ordered-queues");
    },
    isCrowded: () => false,
    start: async () => actors.start(),
    async stop() {
      await atMost(
        time,
        Promise.all([intake.drained(), actors.stop()]).then(() => {}),
        LAST_INTAKE_MS,
      );
    },
  };
}
