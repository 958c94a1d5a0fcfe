/*
 * The row of one task and the statements that change it, each as PostgreSQL carries it out: at once, or not at all. Null: the statement
 * finds no row. The protocols are made of these statements, and chaos and the simulation replay what they saw with them.
 */

export type Status = "pending" | "active" | "waiting" | "polling" | Ended;
export type Ended = "completed" | "failed" | "cancelled";
export type Phase = "not sent" | "sent" | "responded";
/** What the attempt of a worker comes to. */
export type Verdict = "completed" | "failed" | "retry" | "waiting" | "polling";

export interface Row {
  readonly status: Status;
  readonly fence: number;
  readonly worker: number | null;
  /** The number of the last attempt. */
  readonly attempt: number;
  /** How each attempt was closed: its number, how, and how far its call had got. */
  readonly closed: readonly string[];
  readonly interruptions: number;
  readonly retries: number;
}

/** As in store/tasks/task-returns.ts. */
const MOST_INTERRUPTIONS = 3;

export const CREATED: Row = {
  status: "pending",
  fence: 0,
  worker: null,
  attempt: 0,
  closed: [],
  interruptions: 0,
  retries: 0,
};

export function isEnded({ status }: Row): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export function claimed(row: Row, worker: number): Row | null {
  if (row.status !== "pending") return null;
  return { ...row, status: "active", fence: row.fence + 1, worker, attempt: row.attempt + 1 };
}

/** The condition is the fence alone: it rises with every change. */
export function settled(
  row: Row,
  settlement: { readonly fence: number; readonly attempt: number; readonly verdict: Verdict },
): Row | null {
  const { fence, attempt, verdict } = settlement;
  if (row.fence !== fence) return null;
  const how = verdict === "retry" || verdict === "failed" ? "failed" : "success";
  const closed = close(row, attempt, how, "responded");
  return { ...letGo(row, verdict === "retry" ? "pending" : verdict), closed };
}

/** By its worker, or by the reaper, which counts it. */
export function returned(
  row: Row,
  options: { readonly fence: number; readonly phase: Phase; readonly isCounted: boolean },
): Row | null {
  if (row.fence !== options.fence || row.status !== "active") return null;
  const interruptions = row.interruptions + (options.isCounted ? 1 : 0);
  const status = interruptions >= MOST_INTERRUPTIONS ? "failed" : "pending";
  return {
    ...letGo(row, status),
    closed: close(row, row.attempt, "interrupted", options.phase),
    interruptions,
  };
}

export function cancelled(row: Row): Row | null {
  if (isEnded(row)) return null;
  const closed = row.status === "active" ? close(row, row.attempt, "aborted", "sent") : row.closed;
  return { ...letGo(row, "cancelled"), closed };
}

export function retried(row: Row): Row | null {
  if (row.status !== "failed" && row.status !== "cancelled") return null;
  return { ...letGo(row, "pending"), interruptions: 0, retries: row.retries + 1 };
}

/** The answer to an attempt that was given back arrives late: its record says so, and nothing else changes. */
export function superseded(row: Row, attempt: number): Row {
  const closed = row.closed.map((each) =>
    each.startsWith(`${attempt} interrupted`) ? `${attempt} superseded, responded` : each,
  );
  return { ...row, closed };
}

function letGo(row: Row, status: Status): Row {
  return { ...row, status, fence: row.fence + 1, worker: null };
}

function close(row: Row, attempt: number, how: string, phase: Phase): readonly string[] {
  return [...row.closed, `${attempt} ${how}, ${phase}`];
}
