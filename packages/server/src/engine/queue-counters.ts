// Counters per queue and minute, for the charts. Counting must not slow tasks down: it adds to numbers in memory,
// without a clock, and a round every few seconds writes them. Each node has its own rows and writes the current totals
// of a minute, not increments, so a write whose answer was lost can be repeated. A killed node loses the counts since
// its last round, but no task.

import { BUCKETS, bucketOf } from "../domain/histogram.ts";
import type { ChangedTask, TaskListener } from "../domain/task-changes.ts";
import { atMost, type Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { type QueueMinute, sampleDepths, writeMinutes } from "../store/tasks/queue-stats.ts";
import type { EngineMeter } from "./meter.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";

const ROUND_MS = 10_000;
const LAST_ROUND_MS = 500;
const MINUTE_MS = 60_000;
/** Minutes kept while the database is unreachable: beyond an hour the oldest is dropped. */
const MOST_MINUTES = 60;
/** Queues per statement. */
const BATCH = 500;
export const COUNTER_COST: RoundCost = { rows: BATCH, bytes: BATCH * LEAN, turns: "oldest first" };

interface Cell extends QueueMinute {
  created: number;
  completed: number;
  failed: number;
  cancelled: number;
  retried: number;
  readonly waits: Uint32Array;
  readonly durations: Uint32Array;
  /** Counted since the last write. */
  isNews: boolean;
}

interface Minute {
  readonly atMs: number;
  readonly cells: Map<number, Cell>;
}

export interface QueueCounters
  extends Required<Pick<TaskListener, "created" | "retrying" | "retried" | "ended">>,
    Pick<EngineMeter, "waited" | "attempted"> {
  /** Writes the counters, and once a minute the queue depths. Returns the milliseconds until the next round. */
  writeOnce(): Promise<number>;
  /** Writes them on a stop; counters that cannot be written quickly are lost. */
  writeLast(): Promise<void>;
}

export function createQueueCounters(deps: {
  readonly sql: Sql;
  /** Identifies the rows of this node. */
  readonly node: number;
  readonly time: Time;
}): QueueCounters {
  const { sql, node, time } = deps;
  let current: Minute = { atMs: minuteOf(time.nowMs()), cells: new Map() };
  /** Past minutes that are not fully written, oldest first. */
  const past: Minute[] = [];
  let sampledMs = 0;

  function cellOf(teamId: number, queueId: number, sandbox: boolean): Cell {
    const key = queueId * 2 + (sandbox ? 1 : 0);
    let cell = current.cells.get(key);
    if (cell === undefined) {
      cell = newCell(teamId, queueId, sandbox);
      current.cells.set(key, cell);
    }
    cell.isNews = true;
    return cell;
  }

  function countRetry({ teamId, queueId, sandbox = false }: ChangedTask): void {
    cellOf(teamId, queueId, sandbox).retried += 1;
  }

  /** Counts since the last round belong to the minute in which it began: a round runs at the end of each minute. */
  function turn(nowMs: number): void {
    const atMs = minuteOf(nowMs);
    if (atMs === current.atMs) return;
    if (current.cells.size > 0) past.push(current);
    if (past.length > MOST_MINUTES) past.shift();
    current = { atMs, cells: new Map() };
  }

  async function write({ atMs, cells }: Minute): Promise<void> {
    const news = [...cells.values()].filter(({ isNews }) => isNews);
    for (let start = 0; start < news.length; start += BATCH) {
      const batch = news.slice(start, start + BATCH);
      // Reset before the statement, so that counts during it are written again.
      for (const cell of batch) cell.isNews = false;
      try {
        await writeMinutes(sql, node, new Date(atMs), batch);
      } catch (error) {
        for (const cell of batch) cell.isNews = true;
        throw error;
      }
    }
  }

  async function writeOnce(): Promise<number> {
    const nowMs = time.nowMs();
    turn(nowMs);
    for (let first = past[0]; first !== undefined; first = past[0]) {
      await write(first);
      if (past[0] === first) past.shift();
    }
    const now = current;
    await write(now);
    if (sampledMs !== now.atMs) {
      await sampleDepths(sql, new Date(now.atMs));
      sampledMs = now.atMs;
    }
    return Math.min(ROUND_MS, minuteOf(nowMs) + MINUTE_MS - nowMs);
  }

  return {
    created({ teamId, sandbox }, { queueId }) {
      cellOf(teamId, queueId, sandbox).created += 1;
    },
    ended({ teamId, queueId, sandbox = false }, ending) {
      const cell = cellOf(teamId, queueId, sandbox);
      if (ending === "completed") cell.completed += 1;
      else if (ending === "cancelled") cell.cancelled += 1;
      else cell.failed += 1;
    },
    retrying: countRetry,
    retried: countRetry,
    waited(ms, teamId, queueId) {
      count(cellOf(teamId, queueId, false).waits, ms);
    },
    attempted({ durationMs }, teamId, queueId) {
      count(cellOf(teamId, queueId, false).durations, durationMs);
    },
    writeOnce,
    writeLast: () => atMost(time, writeOnce().then(nothing, nothing), LAST_ROUND_MS),
  };
}

const nothing = () => {};

/** Counts in both. */
export function countingQueues(
  meter: EngineMeter,
  counters: Pick<QueueCounters, "waited" | "attempted">,
): EngineMeter {
  return {
    ...meter,
    waited(ms, teamId, queueId) {
      meter.waited(ms, teamId, queueId);
      counters.waited(ms, teamId, queueId);
    },
    attempted(outcome, teamId, queueId) {
      meter.attempted(outcome, teamId, queueId);
      counters.attempted(outcome, teamId, queueId);
    },
  };
}

function newCell(teamId: number, queueId: number, sandbox: boolean): Cell {
  return {
    teamId,
    queueId,
    sandbox,
    created: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    retried: 0,
    waits: new Uint32Array(BUCKETS),
    durations: new Uint32Array(BUCKETS),
    isNews: true,
  };
}

function count(counts: Uint32Array, ms: number): void {
  const bucket = bucketOf(ms);
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS) * MINUTE_MS;
}
