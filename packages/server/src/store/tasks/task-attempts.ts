import type { Attempt, TaskResult, TaskStatus } from "../../domain/task.ts";

/*
 * The attempts of a task as stored in its row. Closed ones are in a JSON column, the open one in separate columns. The
 * first attempt of a task that it completed is not stored: the task's result contains all its data.
 */

/** An attempt as stored in the row. */
export interface AttemptJson {
  number: number;
  status: Attempt["status"];
  code: number | null;
  at: string;
  ms: number | null;
  connect?: number | undefined;
  first?: number | undefined;
  /** The following delay comes from the target's Retry-After. */
  asked?: true | undefined;
  phase: Attempt["phase"];
  error: string | null;
}

export function attemptToJson(attempt: Attempt): AttemptJson {
  return {
    number: attempt.number,
    status: attempt.status,
    code: attempt.responseCode,
    at: attempt.executedAt.toISOString(),
    ms: attempt.durationMs,
    connect: attempt.connectMs,
    first: attempt.firstByteMs,
    phase: attempt.phase,
    error: attempt.error,
  };
}

/** A result as stored in the row, with the further values of a derived attempt. */
export interface StoredResult extends Omit<TaskResult, "truncated"> {
  readonly truncated?: true | undefined;
  readonly connect?: number | undefined;
  readonly first?: number | undefined;
}

/**
 * For a task `t`: its only attempt completed it and was not stored. A callback or a poll completes only tasks with a
 * stored attempt.
 */
export const HAS_DERIVED_ATTEMPT = "(t.status = 'completed' and t.attempt_count = 1 and t.attempts = '[]')";

/** The status code of the last attempt, as text; null if it got none. */
export const LAST_CODE = `case when ${HAS_DERIVED_ATTEMPT} then t.result ->> 'statusCode' else t.attempts -> -1 ->> 'code' end`;

/** What `attemptsOf` reads. */
export interface AttemptColumns {
  readonly status: TaskStatus;
  readonly closed: readonly AttemptJson[];
  readonly attemptCount: number;
  readonly startedAt: Date | null;
  readonly attemptStartedAt: Date | null;
  readonly result: StoredResult | null;
}

/** All attempts, oldest first. */
export function attemptsOf(row: AttemptColumns): Attempt[] {
  const attempts = row.closed.map(
    ({ number, status, code, at, ms, connect, first, phase, error }): Attempt => ({
      number,
      status,
      responseCode: code,
      executedAt: new Date(at),
      durationMs: ms,
      ...(connect !== undefined && { connectMs: connect }),
      ...(first !== undefined && { firstByteMs: first }),
      phase,
      error,
    }),
  );
  const derived = derivedAttempt(row);
  if (derived !== null) attempts.push(derived);
  if (row.attemptStartedAt !== null)
    attempts.push({
      number: row.attemptCount,
      status: "active",
      responseCode: null,
      executedAt: row.attemptStartedAt,
      durationMs: null,
      phase: "sent",
      error: null,
    });
  return attempts;
}

/** The attempt of a task for which `HAS_DERIVED_ATTEMPT` is true. */
function derivedAttempt({ status, closed, attemptCount, startedAt, result }: AttemptColumns): Attempt | null {
  const isDerived = status === "completed" && attemptCount === 1 && closed.length === 0;
  if (!isDerived || startedAt === null || result === null) return null;
  return {
    number: 1,
    status: "success",
    responseCode: result.statusCode,
    executedAt: startedAt,
    durationMs: result.duration,
    ...(result.connect !== undefined && { connectMs: result.connect }),
    ...(result.first !== undefined && { firstByteMs: result.first }),
    phase: "responded",
    error: null,
  };
}
