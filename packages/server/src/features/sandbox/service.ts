import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { SandboxClock } from "../../domain/simulation.ts";
import { recordChange } from "../../service/audit/audit.ts";
import type { InTeamTurn } from "../../service/team-turns.ts";
import type { Database } from "../../store/sql.ts";
import { passSandboxTime, readSandboxClock } from "../../store/tasks/sandbox-clocks.ts";
import type { ScheduleRunner } from "../schedules/index.ts";
import type { SandboxWalk } from "./service-walk.ts";
import { untilNextOfSandboxMs } from "./store.ts";

/** The maximum number of steps per request: a schedule that fires every second has 31 million a year. */
const MOST_TURNS = 500;

export interface Advanced {
  /** Seconds that have passed. */
  readonly seconds: number;
  readonly clock: SandboxClock;
  /** Why it stopped early; null if the full time passed. */
  readonly stopped: string | null;
}

export interface SandboxService {
  clock(principal: Principal): Promise<SandboxClock>;
  /** Resolves once everything within this time has happened, or as much as fits into one request. */
  advance(requester: Requester, seconds: number): Promise<Advanced>;
}

/**
 * Time advances from one due step to the next: the follow-up of an attempt, or a firing, happens at its own time, and
 * everything within the requested time has happened at the end. Meanwhile the team's clock is ahead for this request
 * only; at the end everything still pending comes closer. A node that crashes before that has only made due steps
 * happen early.
 */
export function createSandboxService(deps: {
  readonly database: Database;
  readonly walk: Pick<SandboxWalk, "step">;
  readonly schedules: Pick<ScheduleRunner, "fireAhead">;
  readonly inTeamTurn: InTeamTurn;
  readonly mostTurns?: number;
}): SandboxService {
  const { database, walk, schedules, inTeamTurn, mostTurns = MOST_TURNS } = deps;

  function requireTestKey({ environment }: Principal): void {
    if (environment !== "test") throw new Problem("live_refused");
  }

  return {
    async clock(principal) {
      requireTestKey(principal);
      return readSandboxClock(database, principal.teamId);
    },
    async advance(requester, seconds) {
      requireTestKey(requester);
      const { teamId } = requester;
      let aheadMs = 0;
      let passed = seconds;
      for (let turn = 0; ; turn += 1) {
        if (turn === mostTurns) {
          passed = Math.floor(aheadMs / 1000);
          break;
        }
        const time = { teamId, aheadMs };
        const stepped = await inTeamTurn(teamId, () => walk.step(time));
        const fired = await inTeamTurn(teamId, () => schedules.fireAhead(time));
        if (stepped + fired > 0) continue;
        const nextMs = await inTeamTurn(teamId, () => untilNextOfSandboxMs(database, teamId));
        if (nextMs === null || nextMs > seconds * 1000) break;
        aheadMs = Math.max(aheadMs + 1, Math.ceil(nextMs));
      }
      const clock = await database.transaction(async (sql) => {
        await passSandboxTime(sql, teamId, passed);
        const change = { action: "sandbox.advanced", target: requester.team, detail: { seconds: passed } };
        await recordChange(sql, requester, change);
        return readSandboxClock(sql, teamId);
      });
      const stopped =
        passed < seconds
          ? `${mostTurns} steps of tasks and schedules were taken, as many as one request takes: advance again for the other ${seconds - passed} s`
          : null;
      return { seconds: passed, clock, stopped };
    },
  };
}
