import { type Claim, makeClaim } from "../domain/claim.ts";
import { Problem } from "../domain/problem.ts";
import type { NewTask } from "../domain/task.ts";
import type { Time } from "../domain/time.ts";
import { createGroupCommit } from "../store/group-commit.ts";
import { type Sql, Unstorable } from "../store/sql.ts";
import { type Accepted, findAccepted, insertTasks } from "../store/tasks/task-intake.ts";
import type { Dispatcher, Reservation } from "./dispatcher.ts";
import type { Lease } from "./lease.ts";
import type { LocalQueue } from "./local-queues.ts";
import { type EngineMeter, meterFlush, NO_METER } from "./meter.ts";
import type { Unanswered } from "./unanswered.ts";

const MAX_ITEMS = 300;
/** Characters of bodies in one statement, which must be stored well before its callers are refused. */
const MAX_WEIGHT = 2 ** 20;
/** Beyond this many waiting inserts a caller is better served by a 503 than by a place in the line. */
const MAX_WAITING = 10_000;
/** Callers are promised an answer within 2 s. A task may be stored all the same when its caller was told 503. */
const ANSWER_MS = 1_500;

export interface Intake {
  /** Resolves once the task is on disk; null if its queue does not exist or its idempotency key is taken. */
  submit(task: NewTask): Promise<Accepted | null>;
  drained(): Promise<void>;
}

/** An error refuses the task alone, whatever it is. */
type Answer = Accepted | null | Error;

/**
 * Where tasks come in. A batch is inserted in one commit; a task that finds a free slot and none waiting before it is
 * inserted active, and its call starts right after the commit.
 */
export function createIntake(deps: {
  readonly sql: Sql;
  readonly lease: Pick<Lease, "workerId">;
  readonly dispatcher: Pick<Dispatcher, "reserve" | "giveBack">;
  readonly unanswered: Unanswered;
  readonly start: (claim: Claim, local: LocalQueue) => void;
  /** What was handed off too late to be begun. */
  readonly release: (claims: readonly Claim[]) => Promise<void>;
  /** A task waits in its queue until this time. */
  readonly onPending: (task: NewTask, accepted: Accepted) => void;
  readonly time: Time;
  readonly meter?: EngineMeter;
}): Intake {
  const { sql, lease, dispatcher, meter = NO_METER } = deps;
  let storedAtMs = Number.NEGATIVE_INFINITY;
  const group = createGroupCommit<NewTask, Accepted | null>({
    flush: meterFlush("intake", deps, flush),
    maxItems: MAX_ITEMS,
    weight: { of: ({ call }) => call.body?.length ?? 0, most: MAX_WEIGHT },
    soon: deps.time.soon,
    patience: { ms: ANSWER_MS, time: deps.time, refuse },
  });

  /** Of what was not begun, it is certain that it is not stored: while others are, the database is there and busy. */
  function refuse(isBegun: boolean): Problem {
    const isStoring = deps.time.monotonicMs() - storedAtMs < ANSWER_MS;
    return new Problem(!isBegun && isStoring ? "overloaded" : "database_away");
  }

  /** Of those that arrive together under one idempotency key, only the first is stored. */
  async function flush(tasks: readonly NewTask[]): Promise<readonly Answer[]> {
    if (tasks.every(({ idempotency }) => idempotency === null)) return flushDistinct(tasks);
    const first = firstOfTheirKeys(tasks);
    const answers = await flushDistinct(first);
    if (first.length === tasks.length) return answers;
    const byKey = new Map(first.map((task, index) => [keyOf(task), answers[index] ?? null]));
    // Of the others each finds that the key is taken, unless the first was refused.
    return tasks.map((task) => {
      const answer = byKey.get(keyOf(task)) ?? null;
      return answer instanceof Error || first.includes(task) ? answer : null;
    });
  }

  async function flushDistinct(tasks: readonly NewTask[]): Promise<readonly Answer[]> {
    // The lease may have another id by the time the tasks are stored: the hand-off is this worker's.
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

  /** What arrives together is served by priority, like everything else. */
  function reserveSlots(tasks: readonly NewTask[]): (Reservation | null)[] {
    const reservations = tasks.map((): Reservation | null => null);
    for (const { task, index } of inOrderOfPriority(tasks))
      if (isDueNow(task)) reservations[index] = dispatcher.reserve(task.teamId, task.queue);
    return reservations;
  }

  /** Never throws: each task has set something aside that its answer decides about. */
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
      const answers = await insertTasks(sql, submissions, workerId);
      storedAtMs = deps.time.monotonicMs();
      return answers;
    } catch (error) {
      if (error instanceof Problem) return lookUp(tasks, workerId, error);
      if (error instanceof Unstorable) return storeSeparately(tasks, reservations, workerId);
      return tasks.map(() => (error instanceof Error ? error : new Error("Not stored", { cause: error })));
    }
  }

  /** A task that the database cannot hold is refused alone. */
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

  /** The connection was lost: the commit may have happened or not, and only the database knows. */
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

  /** Returns the claim of a task that was handed off too late to be begun. */
  function place(
    task: NewTask,
    reservation: Reservation | null,
    answer: Answer,
    { workerId, isLate }: { readonly workerId: number; readonly isLate: boolean },
  ): Claim | null {
    const accepted = answer instanceof Error ? null : answer;
    if (accepted !== null) meter.created(task.shape, task.sandbox, task.teamId, accepted.queueId);
    const claim = accepted?.handedOff ? firstClaim(task, accepted, workerId) : null;
    if (claim !== null && reservation !== null && !isLate) {
      meter.waited(0, claim.teamId, claim.queueId);
      deps.start(claim, reservation.local);
      return null;
    }
    if (reservation !== null) dispatcher.giveBack(reservation);
    if (claim === null && accepted !== null) deps.onPending(task, accepted);
    return claim;
  }

  return {
    submit(task) {
      return group.waiting >= MAX_WAITING ? Promise.reject(new Problem("overloaded")) : group.add(task);
    },
    drained: () => group.drained(),
  };
}

function inOrderOfPriority(tasks: readonly NewTask[]): { readonly task: NewTask; readonly index: number }[] {
  const places = tasks.map((task, index) => ({ task, index }));
  const [first] = tasks;
  // Nearly always the case, and then they are in order.
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

/** A task without an idempotency key has its own. */
function keyOf({ teamId, sandbox, id, idempotency }: NewTask): string {
  return idempotency === null ? id : `${teamId} ${sandbox} ${idempotency.key}`;
}

function isDueNow(task: NewTask): boolean {
  return !task.sandbox && task.delaySeconds === 0 && task.runAt === null;
}

/** A task that was inserted active is in its first attempt from the moment that it exists. */
function firstClaim(task: NewTask, accepted: Accepted, workerId: number): Claim {
  return makeClaim(
    task,
    accepted,
    { teamId: task.teamId, queueId: accepted.queueId, queue: task.queue, workerId },
    {
      fence: 1,
      attempt: 1,
      attemptStartedAt: accepted.createdAt,
      failures: 0,
      callbackSealed: task.callback?.sealed ?? null,
    },
  );
}
