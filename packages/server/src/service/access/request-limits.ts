import type { Principal } from "../../domain/identity/principal.ts";
import type { Sql } from "../../store/sql.ts";
import type { LoopShare } from "./loop-share.ts";
import { type Allowance, createTeamMeter, type TeamMeter } from "./team-meter.ts";

export interface RequestLimits {
  /** Counts one request of a team. No promise if no database query is needed. */
  count(
    team: Pick<Principal, "teamId" | "requestsPerMinute"> & Partial<Pick<Principal, "limits">>,
  ): Allowance | Promise<Allowance>;
}

/** Far more teams than call one node within a minute. An evicted team is queried again and loses nothing. */
const MAX_METERS = 10_000;

const UNLIMITED: Allowance = { limit: null, remaining: 0, resetSeconds: 0, retryAfterSeconds: null };

/** Over its event loop share until the next second. */
const OVER_ITS_SHARE: Allowance = { ...UNLIMITED, retryAfterSeconds: 1 };

/** A team has one limit for all credentials: the plan's, over all nodes, in any minute. */
export function createRequestLimits(deps: {
  readonly sql: Sql;
  readonly monotonicMs: () => number;
  readonly loop?: Pick<LoopShare, "isOver">;
}): RequestLimits {
  const meters = new Map<number, TeamMeter>();

  function meterOf(teamId: number, limit: number): TeamMeter {
    const known = meters.get(teamId);
    // A plan change takes effect with the principal, at most a second later.
    if (known?.limit === limit) return known;
    if (meters.size >= MAX_METERS) meters.clear();
    const meter = createTeamMeter({ sql: deps.sql, monotonicMs: deps.monotonicMs, teamId, limit });
    meters.set(teamId, meter);
    return meter;
  }

  return {
    count({ teamId, requestsPerMinute, limits }) {
      if (deps.loop?.isOver(teamId, limits?.loopMsPerSecond ?? null)) return OVER_ITS_SHARE;
      return requestsPerMinute === null ? UNLIMITED : meterOf(teamId, requestsPerMinute).count();
    },
  };
}
