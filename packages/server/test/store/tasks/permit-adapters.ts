import type { Claim } from "../../../src/domain/claim.ts";
import { claimFlowTasks } from "../../../src/store/tasks/flow-claims.ts";
import { confirmPermits } from "../../../src/store/tasks/flow-places.ts";
import { type BegunCall, claimAtRates } from "../../../src/store/tasks/queue-rates.ts";
import { setQueueRate } from "../../../src/store/tasks/queues.ts";
import { claimDueTasks } from "../../../src/store/tasks/task-claims.ts";
import { flowOf } from "../../test-flow.ts";
import type { TextDatabase } from "../../test-sql.ts";
import { claimRequest, type TestStore } from "../../test-store.ts";
import { offered } from "./line-adapters.ts";

/** Something with a rate, as the cases of permits.test.ts use it. */
export interface TestRate {
  /** Claims with many free slots. The worker's monotonic clock shows 1,000. */
  claim(options?: { workerId?: number; limit?: number; database?: TextDatabase }): Promise<RateClaimed>;
  /** The worker reports that these calls began so long ago. */
  confirm(claims: readonly Claim[], beganMsAgo: number): Promise<void>;
  /** As if the permits had been taken so much earlier. */
  move(seconds: number): Promise<void>;
  setRate(rate: number, period: number): Promise<void>;
  /** The time since each permit that counts from the past. */
  agesMs(): Promise<number[]>;
}

export interface RateClaimed {
  readonly claims: readonly Claim[];
  /** Until the next call may begin; null if one may begin now. */
  readonly waitMs: number | null;
}

export interface RateAdapter {
  readonly name: string;
  open(store: TestStore, workerId: number, limits: RateLimits, tasks: number): Promise<TestRate>;
}

interface RateLimits {
  readonly rate: number;
  readonly period: number;
}

export const SENT_AT_MS = 1_000;

let rates = 0;

const ratedQueue: RateAdapter = {
  name: "a queue",
  async open(store, workerId, limits, tasks) {
    const queue = await store.openQueue();
    const { id: queueId } = queue;
    const setRate = async (rate: number, period: number) => {
      await setQueueRate(store.database, queue, { rate, ratePeriod: period });
    };
    await setRate(limits.rate, limits.period);
    await store.insert(queue, ...Array.from({ length: tasks }, () => ({})));

    async function claim(
      { workerId: by = workerId, limit = 100, database = store.database } = {},
      begun: readonly BegunCall[] = [],
    ): Promise<RateClaimed> {
      const request = await claimRequest(store.database, queue, { workerId: by });
      const asked = [{ queueId, epoch: request.epoch, begun }];
      const { claims, rates: states } = await claimAtRates(
        database,
        queue.teamId,
        asked,
        () => SENT_AT_MS,
        (sql, permits) => {
          const most = Math.min(limit, permits.get(queueId) ?? 0);
          return claimDueTasks(sql, { ...request, limit: most });
        },
      );
      return { claims, waitMs: states[0]?.waitMs ?? null };
    }

    return {
      claim: (options) => claim(options),
      async confirm(claims, beganMsAgo) {
        const begun = claims.flatMap(({ permitAt }) =>
          permitAt === null ? [] : [{ permitAt, beganMs: SENT_AT_MS - beganMsAgo }],
        );
        await claim({ limit: 0 }, begun);
      },
      async move(seconds) {
        await store.database.rows(
          "update queue_permits set at = at - make_interval(secs => $2) where queue_id = $1",
          [queueId, seconds],
        );
      },
      setRate,
      agesMs: () => agesMs(store, "select at, count from queue_permits where queue_id = $1", queueId),
    };
  },
};

const ratedFlow: RateAdapter = {
  name: "a flow",
  async open(store, workerId, limits, tasks) {
    rates += 1;
    const key = `rate-${rates}`;
    const queue = await store.openQueue();
    await store.insert(queue, ...Array.from({ length: tasks }, () => flowOf(key, limits)));
    return {
      async claim({ workerId: by = workerId, limit = 100, database = store.database } = {}) {
        const queues = await offered(store.database, [queue], limit);
        const lanes = [{ flow: key, queueId: queue.id }];
        const request = { teamId: queue.teamId, workerId: by, queues, lanes, limit };
        const { claims, flows } = await claimFlowTasks(database, request, SENT_AT_MS);
        const [state] = flows;
        return { claims, waitMs: state?.kind === "rated" ? state.waitMs : null };
      },
      async confirm(claims, beganMsAgo) {
        await confirmPermits(
          store.database,
          claims.map((claim) => ({ claim: { ...claim, flow: key }, beganMsAgo })),
        );
      },
      async move(seconds) {
        await store.database.rows(
          `with held as (update flow_holds set permit_at = permit_at - make_interval(secs => $2) where flow = $1)
           update flow_permits set at = at - make_interval(secs => $2) where flow = $1`,
          [key, seconds],
        );
      },
      async setRate(rate, period) {
        await store.database.rows("update flows set rate = $2, period = $3 where key = $1", [
          key,
          rate,
          period,
        ]);
      },
      agesMs: () =>
        agesMs(
          store,
          `select at, count from flow_permits where flow = $1
            union all select permit_at, 1 from flow_holds where flow = $1 and permit_at is not null`,
          key,
        ),
    };
  },
};

export const RATE_ADAPTERS: readonly RateAdapter[] = [ratedQueue, ratedFlow];

async function agesMs(store: TestStore, permits: string, of: number | string): Promise<number[]> {
  const rows = await store.database.rows<{ ms: number }>(
    `select extract(epoch from now() - p.at)::float8 * 1000 as ms
       from (${permits}) p cross join generate_series(1, p.count) order by 1`,
    [of],
  );
  return rows.map(({ ms }) => ms);
}
