import type { Claim } from "../domain/claim.ts";
import { Problem } from "../domain/problem.ts";
import type { NewTask } from "../domain/task.ts";
import type { Time } from "../domain/time.ts";
import { createGroupCommit } from "../store/group-commit.ts";
import { type Sql, Unstorable } from "../store/sql.ts";
import { type Accepted, findAccepted, insertTasks } from "../store/tasks/task-intake.ts";
import type { Dispatcher, Reservation } from "./dispatcher.ts";
import type { Lease } from "./lease.ts";
import type { LocalQueue } from "./local-queues.ts";

const MAX_ITEMS = 300;
/** Beyond this many waiting inserts a caller is better served by a 503 than by a place in the line. */
const MAX_WAITING = 10_000;
/** Callers are promised an answer within 2 s. A task may be stored all the same when its caller was told 503. */
const ANSWER_MS = 1_500;

export interface Intake {
  /** Resolves once the task is on disk; null if its queue does not exist or its idempotency key is taken. */
  submit(task: NewTask): Promise<Accepted | null>;
  drained(): Promise<void>;
}

type Answer = Accepted | null | Problem;

/**
 * Where tasks come in. A batch is inserted in one commit; a task that finds a free slot and none waiting before it is
 * inserted active, and its call starts right after the commit.
 */
export function createIntake(deps: {
  readonly sql: Sql;
  readonly lease: Lease;
  readonly dispatcher: Pick<Dispatcher, "reserve" | "giveBack">;
  readonly start: (claim: Claim, local: LocalQueue) => void;
  /** A task waits in its queue until this time. */
  readonly onPending: (task: NewTask, accepted: Accepted) => void;
  readonly time: Time;
}): Intake {
  const { sql, lease, dispatcher } = deps;
  const group = createGroupCommit<NewTask, Answer>({
    flush,
    maxItems: MAX_ITEMS,
    soon: deps.time.soon,
    patience: { ms: ANSWER_MS, time: deps.time, refuse: () => new Problem("database_away") },
  });

  /** Of those that arrive together under one idempotency key, only the first is stored. */
  async function flush(tasks: readonly NewTask[]): Promise<readonly Answer[]> {
    const first = firstOfTheirKeys(tasks);
    const answers = await flushDistinct(first);
    if (first.length === tasks.length) return answers;
    const byTask = new Map(first.map((task, index) => [task, answers[index] ?? null]));
    return tasks.map((task) => byTask.get(task) ?? null);
  }

  async function flushDistinct(tasks: readonly NewTask[]): Promise<readonly Answer[]> {
    // The lease may have another id by the time the tasks are stored: the hand-off is this worker's.
    const { workerId } = lease;
    const reservations = reserveSlots(tasks);
    const answers = await store(tasks, reservations, workerId);
    for (const [index, task] of tasks.entries()) {
      place(task, reservations[index] ?? null, answers[index] ?? null, workerId);
    }
    return answers;
  }

  /** What arrives together is served by priority, like everything else. */
  function reserveSlots(tasks: readonly NewTask[]): (Reservation | null)[] {
    const reservations = new Map<NewTask, Reservation | null>();
    const inOrder = tasks.filter(isDueNow).sort((one, other) => other.priority - one.priority);
    for (const task of inOrder) reservations.set(task, dispatcher.reserve(task.teamId, task.queue));
    return tasks.map((task) => reservations.get(task) ?? null);
  }

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
      return await insertTasks(sql, submissions, workerId);
    } catch (error) {
      if (error instanceof Problem) return lookUp(tasks, workerId, error);
      if (error instanceof Unstorable) return storeSeparately(tasks, reservations, workerId);
      for (const reservation of reservations) if (reservation !== null) dispatcher.giveBack(reservation);
      throw error;
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

  function place(task: NewTask, reservation: Reservation | null, answer: Answer, workerId: number): void {
    const accepted = answer instanceof Problem ? null : answer;
    if (accepted?.handedOff && reservation !== null) {
      deps.start(toClaim(task, accepted, workerId), reservation.local);
      return;
    }
    if (reservation !== null) dispatcher.giveBack(reservation);
    if (accepted !== null) deps.onPending(task, accepted);
  }

  return {
    async submit(task) {
      if (group.waiting >= MAX_WAITING) throw new Problem("overloaded");
      const answer = await group.add(task);
      if (answer instanceof Problem) throw answer;
      return answer;
    },
    drained: () => group.drained(),
  };
}

function firstOfTheirKeys(tasks: readonly NewTask[]): readonly NewTask[] {
  const seen = new Set<string>();
  return tasks.filter((task) => {
    if (task.idempotency === null) return true;
    const key = `${task.teamId} ${task.sandbox} ${task.idempotency.key}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function isDueNow(task: NewTask): boolean {
  return !task.sandbox && task.delaySeconds === 0 && task.runAt === null;
}

function toClaim(task: NewTask, accepted: Accepted, workerId: number): Claim {
  return {
    teamId: task.teamId,
    id: task.id,
    queueId: accepted.queueId,
    workerId,
    queue: task.queue,
    shape: task.shape,
    priority: task.priority,
    fence: 1,
    attempt: 1,
    attemptStartedAt: accepted.createdAt,
    failures: 0,
    call: task.call,
    maxRetries: accepted.maxRetries,
    backoff: accepted.backoff,
    retryDelaySeconds: accepted.retryDelaySeconds,
    timeoutSeconds: accepted.timeoutSeconds,
    follow: task.follow,
    sign: task.sign,
    callbackSealed: task.callback?.sealed ?? null,
  };
}
