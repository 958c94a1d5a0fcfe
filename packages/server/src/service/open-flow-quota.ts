import type { Terms } from "../domain/limits.ts";
import { Problem } from "../domain/problem.ts";
import type { Sql } from "../store/sql.ts";
import { countOpenFlows, isFlowOpen } from "../store/tasks/open-flows.ts";

/** How many keys of flows a team uses at once, as known on one node. */
export interface OpenFlowQuota {
  /** Refuses a task whose key would be one too many. A key with open tasks takes more of them. */
  admit(team: Terms & { readonly teamId: number }, key: string): Promise<void>;
}

const COUNT_MS = 5_000;
/** A count visits every key: of a team with very many, it is repeated more rarely. */
const COUNT_SHARE = 100;
const RETRY_SECONDS = 5;
const MOST_TEAMS = 10_000;

interface Count {
  readonly known: number;
  /** The keys of tasks since the count began. */
  readonly since: Set<string>;
  readonly countAgainAtMs: number;
}

/**
 * Counts every few seconds while tasks with flows arrive, so a team may exceed its limit by what other nodes accept
 * meanwhile. A team far below its limit costs one statement each time.
 */
export function createOpenFlowQuota(deps: {
  readonly sql: Sql;
  readonly monotonicMs: () => number;
}): OpenFlowQuota {
  const { sql, monotonicMs } = deps;
  const counts = new Map<number, Count>();
  /** First counts under way: a batch must not count once for each of its tasks. */
  const counting = new Map<number, Promise<Count>>();

  function currentCount(teamId: number, most: number): Count | Promise<Count> {
    const known = counts.get(teamId);
    if (known !== undefined && monotonicMs() < known.countAgainAtMs) return known;
    const underWay = counting.get(teamId);
    if (underWay !== undefined) return known ?? underWay;
    const count = countAgain(teamId, most).finally(() => counting.delete(teamId));
    counting.set(teamId, count);
    return count;
  }

  async function countAgain(teamId: number, most: number): Promise<Count> {
    const beganMs = monotonicMs();
    const since = new Set<string>();
    const known = await countOpenFlows(sql, teamId, most);
    const endedMs = monotonicMs();
    const countAgainAtMs = endedMs + Math.max(COUNT_MS, (endedMs - beganMs) * COUNT_SHARE);
    const count: Count = { known, since, countAgainAtMs };
    if (counts.size >= MOST_TEAMS) counts.clear();
    counts.set(teamId, count);
    return count;
  }

  return {
    async admit({ teamId, plan, limits }, key) {
      const most = limits.flowsOpen;
      if (most === null) return;
      const count = await currentCount(teamId, most);
      if (count.since.has(key)) return;
      if (count.known + count.since.size >= most && !(await isFlowOpen(sql, teamId, key)))
        throw new Problem("flows_full", { plan, most: String(most) }, { retryAfterSeconds: RETRY_SECONDS });
      if (count.since.size < most) count.since.add(key);
    },
  };
}
