import type { SandboxClock } from "../../domain/simulation.ts";
import { type Sql, statement } from "../sql.ts";

/** Joins the sandbox clock of the team of `table`, as `c`, for its sandbox rows. */
export const withClock = (table: string, alias = "c") =>
  `left join sandbox_clocks ${alias} on ${alias}.team_id = ${table}.team_id and ${table}.sandbox`;

/** The seconds by which the clock of such a join is ahead: 0 for a live task. */
export const aheadSeconds = (alias = "c") => `coalesce(${alias}.ahead_seconds, 0)`;

const READ_SANDBOX_CLOCK = statement(
  "read_sandbox_clock",
  `select t.now + make_interval(secs => ${aheadSeconds()}) as now, ${aheadSeconds()}::float8 as "aheadSeconds"
     from (select clock_timestamp() as now) t left join sandbox_clocks c on c.team_id = $1`,
);

/** What the clock of a team's sandbox shows. */
export async function readSandboxClock(sql: Sql, teamId: number): Promise<SandboxClock> {
  const [row] = await sql.rows<SandboxClock>(READ_SANDBOX_CLOCK, [teamId]);
  if (row === undefined) throw new Error("The database did not tell the time");
  return row;
}

const ADVANCE_SANDBOX_CLOCK = statement(
  "advance_sandbox_clock",
  `insert into sandbox_clocks as c (team_id, ahead_seconds) values ($1, $2)
   on conflict (team_id) do update set ahead_seconds = c.ahead_seconds + excluded.ahead_seconds`,
);

const ADVANCE_SIMULATIONS = statement(
  "advance_simulations",
  `update simulations set next_at = next_at - make_interval(secs => $2) where team_id = $1 and next_at is not null`,
);

const ADVANCE_SANDBOX_SCHEDULES = statement(
  "advance_sandbox_schedules",
  `update schedules set next_run_at = next_run_at - make_interval(secs => $2), ahead_seconds = ahead_seconds + $2
    where team_id = $1 and sandbox`,
);

/** Advances the sandbox clock of a team: everything that waits there is that much closer. */
export async function passSandboxTime(sql: Sql, teamId: number, seconds: number): Promise<void> {
  await sql.rows(ADVANCE_SANDBOX_CLOCK, [teamId, seconds]);
  await sql.rows(ADVANCE_SIMULATIONS, [teamId, seconds]);
  await sql.rows(ADVANCE_SANDBOX_SCHEDULES, [teamId, seconds]);
}
