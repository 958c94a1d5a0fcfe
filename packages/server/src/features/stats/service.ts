import { openAnswerRoom } from "../../domain/answer-room.ts";
import { BUCKETS, quantile } from "../../domain/histogram.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import {
  QUEUE_COUNTS,
  type QueueCount,
  STATS_RANGES,
  type StatsRange,
  stepsOf,
} from "../../domain/queue-stats.ts";
import { chooseSandbox } from "../../domain/reach.ts";
import type { Scan } from "../../service/scan-line.ts";
import type { Sql } from "../../store/sql.ts";
import { readFailureGroups, type ShownFailureGroup } from "./service-failures.ts";
import {
  type QueueNow,
  readHistograms,
  readQueuesNow,
  readSampledSteps,
  readSteps,
  type StepHistogram,
} from "./store.ts";

/** Queues with their own entry, the busiest first. */
const MOST_QUEUES = 100;
/** Of the time of a step in an answer. */
const STEP_BYTES = 32;

export interface StatsQuery {
  readonly range: StatsRange;
  readonly queue: string | null;
  /** Null: by the credential. */
  readonly sandbox: boolean | null;
}

/** A number for each step. */
export interface QueueSeries extends Readonly<Record<QueueCount, number[]>> {
  /** Null for all queues together. */
  readonly queue: string | null;
  /** The number of waiting tasks; null if not sampled. */
  readonly pending: (number | null)[];
  readonly waits: Quantiles;
  readonly durations: Quantiles;
  readonly oldestPendingAt: Date | null;
  readonly now: Pick<QueueNow, "pending" | "active" | "waiting" | "polling">;
}

export interface Quantiles {
  readonly p50: (number | null)[];
  readonly p95: (number | null)[];
}

export interface QueueStats {
  readonly from: Date;
  readonly to: Date;
  readonly stepSeconds: number;
  readonly at: readonly Date[];
  readonly queues: readonly QueueSeries[];
  readonly total: QueueSeries;
}

export interface StatsService {
  queues(principal: Principal, query: StatsQuery): Promise<QueueStats>;
  /** Of tasks that were created in the range. */
  failures(
    principal: Principal,
    query: Omit<StatsQuery, "queue">,
    scan: Scan,
  ): Promise<{
    readonly createdAfter: Date;
    readonly sandbox: boolean;
    readonly groups: readonly ShownFailureGroup[];
  }>;
}

export function createStatsService({
  sql,
  now,
}: {
  readonly sql: Sql;
  readonly now: () => Date;
}): StatsService {
  return {
    async queues(principal, { range, queue, sandbox: asked }) {
      const sandbox = chooseSandbox(principal, asked);
      const { teamId } = principal;
      const to = now();
      const steps = stepsOf(range, to.getTime());
      const from = new Date((steps[0] ?? 0) * 1000);
      const { stepSeconds } = STATS_RANGES[range];
      const standing = await readQueuesNow(sql, { teamId, sandbox, queue });
      if (queue !== null && standing.length === 0) throw new Problem("queue_not_found", { name: queue });
      const queueIds = queue === null ? null : standing.map(({ queueId }) => queueId);
      const query = { teamId, sandbox, queueIds, from, stepSeconds };
      const [counted, waits, durations, sampled] = await Promise.all([
        readSteps(sql, query),
        readHistograms(sql, query, "waits"),
        readHistograms(sql, query, "durations"),
        readSampledSteps(sql, from, stepSeconds),
      ]);

      const places = new Map(steps.map((step, place) => [step, place]));
      const open = (of: QueueNow | null) => openSeries(of, steps, sampled);
      const total = open(null);
      const series = new Map(standing.map((of) => [of.queueId, open(of)]));
      for (const { queueId, atSeconds, pending, ...counts } of counted) {
        const place = places.get(atSeconds);
        if (place === undefined) continue;
        series.get(queueId)?.count(place, counts, pending);
        total.count(place, counts, pending);
      }
      for (const [kind, histograms] of [
        ["waits", waits],
        ["durations", durations],
      ] as const)
        for (const histogram of histograms) {
          const place = places.get(histogram.atSeconds);
          if (place === undefined) continue;
          series.get(histogram.queueId)?.add(kind, place, histogram);
          total.add(kind, place, histogram);
        }
      for (const of of standing) total.stand(of);
      const lines = [...series.values()].sort((one, other) => other.weight() - one.weight());
      const sum = total.close();
      const room = openAnswerRoom(JSON.stringify(sum).length + STEP_BYTES * steps.length);
      const shown: QueueSeries[] = [];
      for (const line of lines.slice(0, MOST_QUEUES)) {
        const closed = line.close();
        if (!room.take(JSON.stringify(closed))) break;
        shown.push(closed);
      }
      shown.sort((one, other) => ((one.queue ?? "") < (other.queue ?? "") ? -1 : 1));
      return {
        from,
        to,
        stepSeconds,
        at: steps.map((step) => new Date(step * 1000)),
        queues: shown,
        total: sum,
      };
    },

    async failures(principal, { range, sandbox: asked }, scan) {
      const sandbox = chooseSandbox(principal, asked);
      const query = { teamId: principal.teamId, sandbox, range, until: now(), scan };
      return { sandbox, ...(await readFailureGroups(sql, query)) };
    },
  };
}

/** One entry of the answer under construction. */
function openSeries(of: QueueNow | null, steps: readonly number[], sampled: ReadonlySet<number>) {
  const none = () => steps.map(() => 0);
  const counts = {
    created: none(),
    completed: none(),
    failed: none(),
    cancelled: none(),
    retried: none(),
  } satisfies Record<QueueCount, number[]>;
  const pending = steps.map((step): number | null => (sampled.has(step) ? 0 : null));
  const histograms = {
    waits: new Map<number, Float64Array>(),
    durations: new Map<number, Float64Array>(),
  };
  const standing = { pending: 0, active: 0, waiting: 0, polling: 0 };
  let oldestPendingAt: Date | null = null;
  let seen = 0;

  function stand(one: QueueNow): void {
    // trusted keys: four states.
    for (const name of ["pending", "active", "waiting", "polling"] as const) standing[name] += one[name];
    const { oldestPendingAt: oldest } = one;
    if (oldest !== null && (oldestPendingAt === null || oldest < oldestPendingAt)) oldestPendingAt = oldest;
  }
  if (of !== null) stand(of);

  return {
    stand,
    count(place: number, counted: Readonly<Record<QueueCount, number>>, waiting: number | null) {
      for (const name of QUEUE_COUNTS) {
        counts[name][place] = (counts[name][place] ?? 0) + counted[name];
        seen += counted[name];
      }
      if (waiting !== null) pending[place] = (pending[place] ?? 0) + waiting;
    },
    add(kind: keyof typeof histograms, place: number, { counts: text }: StepHistogram) {
      const histogram = histograms[kind].get(place) ?? new Float64Array(BUCKETS);
      histograms[kind].set(place, histogram);
      for (const pair of text.split(",")) {
        const [bucket = 0, count = 0] = pair.split(":").map(Number);
        histogram[bucket - 1] = (histogram[bucket - 1] ?? 0) + count;
      }
    },
    /** The order for the choice of entries. */
    weight: () => seen + standing.pending + standing.active,
    close(): QueueSeries {
      const last = steps.length - 1;
      // The current minute may not have been sampled yet.
      pending[last] ??= standing.pending;
      const quantiles = (kind: keyof typeof histograms): Quantiles => {
        const at = (part: number) =>
          steps.map((_, place) => quantile(histograms[kind].get(place) ?? [], part));
        return { p50: at(0.5), p95: at(0.95) };
      };
      return {
        queue: of?.queue ?? null,
        ...counts,
        pending,
        waits: quantiles("waits"),
        durations: quantiles("durations"),
        oldestPendingAt,
        now: standing,
      };
    },
  };
}
