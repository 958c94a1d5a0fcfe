import { type Claim, makeClaim } from "../domain/claim.ts";
import { Problem } from "../domain/problem.ts";
import type { NewTask } from "../domain/task.ts";
import type { TaskChanges } from "../domain/task-changes.ts";
import type { Time } from "../domain/time.ts";
import { createGroupCommit } from "../store/group-commit.ts";
import { type Sql, Unstorable } from "../store/sql.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import { INSERT_BYTES, INSERT_ROWS, INSERT_WEIGHT } from "../store/tasks/submission.ts";
import { type Accepted, findAccepted, insertTasks } from "../store/tasks/task-intake.ts";
import type { Dispatcher, Reservation } from "./dispatcher.ts";
import type { Lease } from "./lease.ts";
import type { LocalQueue } from "./local-queues.ts";
import { type EngineMeter, meterFlush, NO_METER } from "./meter.ts";
import type { RoundCost } from "./round-cost.ts";
import type { Unanswered } from "./unanswered.ts";

export const INTAKE_COST: RoundCost = { rows: INSERT_ROWS, bytes: INSERT_BYTES, turns: "in turn" };
/** Beyond this many waiting inserts a 503 is better than a longer queue, for a team that has its share of them. */
const MAX_WAITING = 10_000;
/** Callers get an answer within 2 s. After a 503 the task may still be stored. */
const ANSWER_MS = 1_500;

export interface Intake {
  /** Resolves once the task is on disk; null if its queue does not exist or its idempotency key is taken. */
  submit(task: NewTask): Promise<Accepted | null>;
  drained(): Promise<void>;
}

/** An error refuses only this task. */
type Answer = Accepted | null | Error;

/**
 * Accepts tasks. A batch is inserted in one commit. A task with a free slot and no task waiting before it is inserted
 * as active, and its call starts right after the commit.
 */
export function createIntake(deps: {
  readonly sql: Sql;
  readonly lease: Pick<Lease, "workerId">;
  readonly dispatcher: Pick<Dispatcher, "reserve" | "giveBack" | "finish">;
  /** Whether a task of this flow may start as soon as it is stored, as far as this node knows. Default: none may. */
  readonly flows?: { mayHandOff(teamId: number, flow: NonNullable<NewTask["flow"]>): boolean };
  readonly unanswered: Unanswered;
  readonly start: (claim: Claim, local: LocalQueue) => void;
  /** Releases claims that were handed off too late to start. */
  readonly release: (claims: readonly Claim[]) => Promise<void>;
  readonly changes: Pick<TaskChanges, "created">;
  readonly time: Time;
  readonly meter?: EngineMeter;
}): Intake {
  const { sql, lease, dispatcher, meter = NO_METER } = deps;
  const subscribers = createSubscriberMemory();
  let storedAtMs = Number.NEGATIVE_INFINITY;
  const group = createGroupCommit<NewTask, Accepted | null>({
    flush: meterFlush("intake", deps, flush),
    maxItems: INSERT_ROWS,
    weight: INSERT_WEIGHT,
    teamOf: ({ teamId }) => teamId,
    soon: deps.time.soon,
    patience: { ms: ANSWER_MS, time: deps.time, refuse },
  });

  /** A task whose insert has not started is certainly not stored: while other inserts run, the database is up but busy. */
  function refuse(isBegun: boolean): Problem {
    const isStoring = deps.time.monotonicMs() - storedAtMs < ANSWER_MS;
    return new Problem(!isBegun && isStoring ? "overloaded" : "database_away");
  }

  /** Of tasks that arrive together under one idempotency key, only the first is stored. */
  async function flush(tasks: readonly NewTask[]): Promise<readonly Answer[]> {
    if (tasks.every(({ idempotency }) => idempotency === null)) return flushDistinct(tasks);
    const first = firstOfTheirKeys(tasks);
    const answers = await flushDistinct(first);
    if (first.length === tasks.length) return answers;
    const byKey = new Map(first.map((task, index) => [keyOf(task), answers[index] ?? null]));
    // The others find the key taken, unless the first was refused.
    return tasks.map((task) => {
      const answer = byKey.get(keyOf(task)) ?? null;
      return answer instanceof Error || first.includes(task) ? answer : null;
    });
  }

  async function flushDistinct(tasks: readonly NewTask[]): Promise<readonly Answer[]> {
    // The worker's id may change before the tasks are stored: the hand-off belongs to this one.
    const { workerId } = lease;
    const reservations = reserveSlots(tasks);
    const question = deps.unanswered.ask();
    const answers = await store(tasks, reservations, workerId);
    const isLate = question.isTooOld();
    const late = tasks.flatMap((task, index) => {
      const claim = place(task, reservations[index] ?? null, answers[index] ?? null, { workerId, isLate });
      return claim ?? [];
    });
    await deps.release(late);
    question.end();
    return answers;
  }

  /** Tasks that arrive together are served by priority, as usual. */
  function reserveSlots(tasks: readonly NewTask[]): (Reservation | null)[] {
    const reservations = tasks.map((): Reservation | null => null);
    for (const { task, index } of inOrderOfPriority(tasks))
      if (isDueNow(task) && (task.flow === null || deps.flows?.mayHandOff(task.teamId, task.flow)))
        reservations[index] = dispatcher.reserve(task.teamId, task.queue);
    return reservations;
  }

  /** Never throws: each task holds a reservation that its answer must resolve. */
  async function store(
    tasks: readonly NewTask[],
    reservations: readonly (Reservation | null)[],
    workerId: number,
  ): Promise<readonly Answer[]> {
    const submissions = tasks.map((task, index) => ({
      task,
      reservation: reservations[index] ?? null,
    }));
    try {
      const answers = await insertTasks(sql, submissions, workerId, 0, subscribers);
      storedAtMs = deps.time.monotonicMs();
      return answers;
    } catch (error) {
      if (error instanceof Problem) return lookUp(tasks, workerId, error);
      if (error instanceof Unstorable) return storeSeparately(tasks, reservations, workerId);
      return tasks.map(() => (error instanceof Error ? error : new Error("Not stored", { cause: error })));
    }
  }

  /** Refuses only the task that the database cannot store. */
  async function storeSeparately(
    tasks: readonly NewTask[],
    reservations: readonly (Reservation | null)[],
    workerId: number,
  ): Promise<readonly Answer[]> {
    if (tasks.length === 1)
      return [new Problem("invalid", { reason: "The task holds characters that cannot be stored" })];
    const answers: Answer[] = [];
    for (const [index, task] of tasks.entries())
      answers.push(...(await store([task], [reservations[index] ?? null], workerId)));
    return answers;
  }

  /** The connection was lost: only the database knows whether the commit happened. */
  async function lookUp(
    tasks: readonly NewTask[],
    workerId: number,
    problem: Problem,
  ): Promise<readonly Answer[]> {
    try {
      const accepted = await findAccepted(sql, tasks, workerId);
      return accepted.map((answer) => answer ?? problem);
    } catch {
      return tasks.map(() => problem);
    }
  }

  /** Returns the claim of a task that was handed off too late to start. */
  function place(
    task: NewTask,
    reservation: Reservation | null,
    answer: Answer,
    { workerId, isLate }: { readonly workerId: number; readonly isLate: boolean },
  ): Claim | null {
    const accepted = answer instanceof Error ? null : answer;
    const claim = accepted?.handedOff ? firstClaim(task, accepted, workerId) : null;
    const begins = claim !== null && reservation !== null && !isLate;
    // First: what waits is claimed with the slots that are free by then.
    if (!begins && reservation !== null) {
      // A task of a flow may lack a place.
      if (task.flow === null) dispatcher.giveBack(reservation);
      else dispatcher.finish(reservation.local);
    }
    if (accepted !== null) deps.changes.created(task, accepted);
    if (!begins) return claim;
    meter.waited(0, claim.teamId, claim.queueId);
    deps.start(claim, reservation.local);
    return null;
  }

  return {
    submit(task) {
      return group.isFull(task, MAX_WAITING) ? Promise.reject(new Problem("overloaded")) : group.add(task);
    },
    drained: () => group.drained(),
  };
}

function inOrderOfPriority(tasks: readonly NewTask[]): { readonly task: NewTask; readonly index: number }[] {
  const places = tasks.map((task, index) => ({ task, index }));
  const [first] = tasks;
  // Nearly always true; then the tasks are in order.
  if (tasks.every(({ priority }) => priority === first?.priority)) return places;
  return places.sort((one, other) => other.task.priority - one.task.priority);
}

function firstOfTheirKeys(tasks: readonly NewTask[]): readonly NewTask[] {
  const seen = new Set<string>();
  return tasks.filter((task) => {
    const key = keyOf(task);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** A task without an idempotency key uses its own id. */
function keyOf({ teamId, sandbox, id, idempotency }: NewTask): string {
  return idempotency === null ? id : `${teamId} ${sandbox} ${idempotency.key}`;
}

function isDueNow(task: NewTask): boolean {
  return !task.sandbox && task.delaySeconds === 0 && task.runAt === null;
}

/** A task inserted as active is in its first attempt from the start. */
function firstClaim(task: NewTask, accepted: Accepted, workerId: number): Claim {
  const claim = makeClaim(
    task,
    accepted,
    { teamId: task.teamId, queueId: accepted.queueId, queue: task.queue, workerId },
    {
      fence: 1,
      attempt: 1,
      attemptStartedAt: accepted.createdAt,
      failures: 0,
      callbackSealed: task.callback?.sealed ?? null,
      scheduledFor: null,
    },
  );
  return task.flow === null ? claim : { ...claim, flow: task.flow.key };
}
