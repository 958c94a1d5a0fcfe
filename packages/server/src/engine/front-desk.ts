import type { NewTask } from "../domain/task.ts";
import { atMost, type Time } from "../domain/time.ts";
import { parseHint } from "../store/tasks/hints.ts";
import type { Cancelled } from "../store/tasks/task-cancellations.ts";
import type { Accepted } from "../store/tasks/task-intake.ts";
import { type Actors, createActors } from "./actors.ts";
import { POLL_MS } from "./alarm.ts";
import { createDroppedClaims } from "./dropped-claims.ts";
import type { EngineDatabases } from "./engine-databases.ts";
import { createHints } from "./hints.ts";
import { createIntake } from "./intake.ts";
import type { Log } from "./log.ts";
import type { EngineMeter } from "./meter.ts";
import { createUnanswered } from "./unanswered.ts";

/** A stop waits no longer for a silent database to store what had come in. */
const LAST_INTAKE_MS = 2_000;
/** A task due later than this is found in time by the look that every worker takes anyway; a commit may take its time. */
const SOON_MS = POLL_MS + 1_000;

type Waiting = Pick<NewTask, "teamId" | "queue" | "sandbox">;

/** As much of an engine as a node has that serves the API and makes no calls. */
export interface FrontDesk {
  readonly actors: Actors;
  submit(task: NewTask): Promise<Accepted | null>;
  /** A task has ended by a callback or a cancel: its caller may wait to be told. */
  ended(): void;
  /** A task was stored without the intake, or begun anew: it waits in its queue. */
  pending(task: Waiting, times: Pick<Accepted, "createdAt" | "runAt">): void;
  /** Resolves once no worker makes a call of a cancelled task: its worker says so, or is not hint for a second. */
  follow(cancelled: Cancelled): Promise<void>;
  /** This node has slots of the queue, and no room for another call of the team. */
  isCrowded(teamId: number, queue: string): boolean;
  /** A message of another node on the channel. */
  hear(message: string): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Stores tasks for others to execute. It has no lease and no slots: every task is inserted pending, and the workers are
 * told by a hint. What they do not hear they find by their own looks. It hears nothing itself but that a claim was dropped.
 */
export function createFrontDesk(deps: {
  readonly databases: Pick<EngineDatabases, "intake" | "chores">;
  /** Under which it counts what it stores: below 0, so that it is no worker's. */
  readonly number: number;
  readonly log: Log;
  readonly meter: EngineMeter;
  readonly time: Time;
}): FrontDesk {
  const { databases, time, log, meter } = deps;
  const actors = createActors({ time, log });
  const say = createHints({ sql: databases.chores, workerId: () => 0, hasReceivers: () => true, log });
  const dropped = createDroppedClaims({ time, send: say });
  const intake = createIntake({
    sql: databases.intake,
    lease: { workerId: deps.number },
    dispatcher: { reserve: () => null, giveBack() {} },
    unanswered: createUnanswered(time),
    start() {},
    release: async () => {},
    onPending,
    time,
    meter,
  });

  function onPending(
    { teamId, queue, sandbox }: Waiting,
    { runAt, createdAt }: Pick<Accepted, "createdAt" | "runAt">,
  ): void {
    const waitMs = runAt.getTime() - createdAt.getTime();
    if (sandbox || waitMs > SOON_MS) return;
    say({ kind: waitMs > 0 ? "later" : "due", teamId, queue });
  }

  return {
    actors,
    submit: (task) => intake.submit(task),
    // Of no queue in particular: every worker's courier looks.
    ended: () => say({ kind: "ended", teamId: 0, queue: "-" }),
    pending: onPending,
    async follow({ teamId, id: taskId, held, job }) {
      if (job?.plan.cancel !== undefined) say({ kind: "job", teamId, taskId });
      if (held !== null) await dropped.ask(held);
    },
    hear(message) {
      const hint = parseHint(message);
      if (hint?.kind === "dropped") dropped.hear(hint.claim);
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
