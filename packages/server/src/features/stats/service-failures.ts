import { type StatsRange, stepsOf } from "../../domain/queue-stats.ts";
import { firstIdOf, LAST_ID } from "../../domain/task-filter.ts";
import type { Scan } from "../../service/scan-line.ts";
import type { Sql } from "../../store/sql.ts";
import { createFailureGroups, type FailureGroup } from "./domain-failure-groups.ts";
import { FINGERPRINT_LENGTH, queuesWithFailures, readErrors, readFailedTasks } from "./store-failures.ts";

const MOST_FAILED = 10_000;
/** Of a team with more queues than that leaves one task each. */
const LEAST_PER_QUEUE = 10;
/** Tasks read in one turn of the line of scans. */
const SLICE = 1_000;
const MOST_GROUPS = 100;
/** Of the range, for the course of each group. */
const FAILURE_STEPS = 30;

export interface ShownFailureGroup extends FailureGroup {
  readonly queue: string;
  /** The error of the newest of them. */
  readonly error: string;
  /** More of the queue's tasks failed than were scanned. */
  readonly isCapped: boolean;
  /** Finds their errors, as a filter. */
  readonly pattern: string;
}

/** A queue that is being walked, from the newest task on. */
interface Walk {
  readonly queueId: number;
  before: string;
  left: number;
}

/**
 * The newest failed tasks in groups, the largest first. A limited number per queue is scanned, in slices: between two of
 * them the scans of other teams have their turn.
 */
export async function readFailureGroups(
  sql: Sql,
  query: {
    readonly teamId: number;
    readonly sandbox: boolean;
    readonly range: StatsRange;
    readonly until: Date;
    readonly scan: Scan;
  },
): Promise<{ readonly createdAfter: Date; readonly groups: readonly ShownFailureGroup[] }> {
  const { teamId, sandbox, range, until, scan } = query;
  const createdAfter = new Date((stepsOf(range, until.getTime())[0] ?? 0) * 1000);
  const of = { teamId, sandbox, createdAfter, lowestId: firstIdOf(createdAfter.getTime()) };
  const queues = await queuesWithFailures(sql, of);
  const each = Math.max(LEAST_PER_QUEUE, Math.floor(MOST_FAILED / Math.max(1, queues.length)));
  const walks = queues.map(({ id }): Walk => ({ queueId: id, before: LAST_ID, left: each }));
  const capped = new Set<number>();
  const groups = createFailureGroups({ from: createdAfter, until, steps: FAILURE_STEPS });
  while (walks.length > 0) {
    const slice = nextSlice(walks);
    const found = await readFailedTasks(sql, of, slice);
    for (const task of found) if (!task.isDismissed) groups.add(task);
    for (const { queueId, most } of slice) {
      const own = found.filter((task) => task.queueId === queueId);
      const walk = walks.shift() as Walk;
      walk.left -= own.length;
      walk.before = own.at(-1)?.id ?? walk.before;
      if (own.length < most) continue;
      if (walk.left > 0) walks.unshift(walk);
      else capped.add(queueId);
    }
    if (walks.length === 0) break;
    scan.give();
    await scan.take();
  }
  const largest = groups.largest(MOST_GROUPS);
  const errors = await readErrors(
    sql,
    teamId,
    largest.map(({ id }) => id),
  );
  const names = new Map(queues.map(({ id, name }) => [id, name]));
  return {
    createdAfter,
    groups: largest.map((group) => ({
      ...group,
      queue: names.get(group.queueId) ?? "",
      error: errors.get(group.id) ?? "",
      isCapped: capped.has(group.queueId),
      pattern: group.fingerprint.length >= FINGERPRINT_LENGTH ? `${group.fingerprint}*` : group.fingerprint,
    })),
  };
}

/** The next queues, as many as the slice has room for; the last of them perhaps in part. */
function nextSlice(walks: readonly Walk[]) {
  const slice: { readonly queueId: number; readonly before: string; readonly most: number }[] = [];
  let room = SLICE;
  for (const { queueId, before, left } of walks) {
    if (room === 0) break;
    const most = Math.min(left, room);
    slice.push({ queueId, before, most });
    room -= most;
  }
  return slice;
}
