import type { Claim } from "../../domain/claim.ts";
import { type Sql, statement } from "../sql.ts";

/*
 * The places of flows, and the permits of flows with a rate. A permit counts from the time in its row, which is never earlier
 * than the begin of its call: first the latest time at which the call may begin, then the time that the worker reports.
 */

/**
 * The CTE that counts permits by time. `from` yields team_id, sandbox, flow, period and the permits' times. The time is
 * rounded up to a thousandth of the period, so that a window has at most a thousand rows.
 */
export function movingPermits(from: string, at: string): string {
  return `moved as (
     insert into flow_permits as p (team_id, sandbox, flow, at, count)
     select team_id, sandbox, flow, date_bin(step, at, to_timestamp(0)) + step, count(*)
       from (select team_id, sandbox, flow, ${at} as at, make_interval(secs => coalesce(period, 1) / 1000.0) as step
               from ${from}) m
      where at is not null
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
     on conflict (team_id, sandbox, flow, at) do update set count = p.count + excluded.count
   )`;
}

/** A call of a flow that began or ended. */
export interface FlowCall {
  readonly claim: Pick<Claim, "teamId" | "id" | "fence"> & { readonly flow: string };
  /** How long ago the call began, by the worker's monotonic clock; null if it never did, or if that is unknown. */
  readonly beganMsAgo: number | null;
}

const asked = `asked as materialized (
     select a.*, case when f.rate is null then f.task_period else f.period end as period, f.hold
       from unnest($1::integer[], $2::text[], $3::uuid[], $4::integer[], $5::float8[]) as a(team_id, flow, id, fence, ago_ms)
       left join flows f on f.team_id = a.team_id and not f.sandbox and f.key = a.flow
   )`;

/**
 * `least` ignores a null: without a report the permit counts from when it became void. A permit that was confirmed has been
 * counted.
 */
const MOVED = movingPermits("let_go", "case when permit_at is not null then least(permit_at, told_at) end");

const TOLD_AT = "now() - make_interval(secs => ago_ms / 1000.0)";

const CONFIRM_PERMITS = statement(
  "confirm_flow_permits",
  `with ${asked}, timed as (select *, ${TOLD_AT} as told_at from asked), old as (
     select h.team_id, h.sandbox, h.flow, h.task_id, h.fence, h.permit_at, a.told_at, a.period
       from timed a join flow_holds h on h.team_id = a.team_id and not h.sandbox and h.flow = a.flow
        and h.task_id = a.id and h.fence = a.fence
      where h.permit_at is not null
        for update of h
   ), cleared as (
     update flow_holds h set permit_at = null from old
      where h.team_id = old.team_id and not h.sandbox and h.flow = old.flow and h.task_id = old.task_id and h.fence = old.fence
        and h.permit_at is not null
     returning h.task_id, h.fence
   ), let_go as (
     select old.* from old join cleared c on c.task_id = old.task_id and c.fence = old.fence
   ), ${MOVED}
   select 1`,
  { prepared: true },
);

const RELEASE_PLACES = statement(
  "release_flow_places",
  `with ${asked}, timed as (select *, ${TOLD_AT} as told_at from asked), let_go as (
     delete from flow_holds h using timed a
      where h.team_id = a.team_id and not h.sandbox and h.flow = a.flow and h.task_id = a.id and h.fence = a.fence
        and (a.hold is distinct from 'task' or not exists (
              select 1 from tasks t where t.team_id = a.team_id and t.id = a.id and t.completed_at is null))
     returning h.team_id, h.sandbox, h.flow, h.permit_at, a.told_at, a.period
   ), ${MOVED}
   select 1`,
  { prepared: true },
);

/** The calls have begun: their permits count from then. */
export async function confirmPermits(sql: Sql, calls: readonly FlowCall[]): Promise<void> {
  await sql.rows(CONFIRM_PERMITS, valuesOf(calls));
}

/** The calls have ended and their attempts are settled: their places are free. */
export async function releasePlaces(sql: Sql, calls: readonly FlowCall[]): Promise<void> {
  await sql.rows(RELEASE_PLACES, valuesOf(calls));
}

function valuesOf(calls: readonly FlowCall[]): unknown[] {
  return [
    calls.map(({ claim }) => claim.teamId),
    calls.map(({ claim }) => claim.flow),
    calls.map(({ claim }) => claim.id),
    calls.map(({ claim }) => claim.fence),
    calls.map(({ beganMsAgo }) => beganMsAgo),
  ];
}

const OPEN_FLOW = statement(
  "open_flow",
  "insert into flows (team_id, sandbox, key) values ($1, $2, $3) on conflict (team_id, sandbox, key) do nothing",
);

/** Creates the row of a key that has none: it was forgotten at the moment when a task of it was created. */
export async function openFlow(sql: Sql, teamId: number, key: string): Promise<void> {
  await sql.rows(OPEN_FLOW, [teamId, false, key]);
}

/** The longest pause by Retry-After. */
const LONGEST_PAUSE_MS = 3_600_000;

const PAUSE_FLOW = statement(
  "pause_flow",
  `update flows f set paused_until = greatest(f.paused_until, ends_at)
     from (select now() + make_interval(secs => $3 / 1000.0) as ends_at) pause
    where f.team_id = $1 and not f.sandbox and f.key = $2
      and coalesce(f.pause_on_retry_after, f.key like 'host:%' or f.key like 'token:%')`,
);

/** A target asked to wait: pauses a flow whose tasks all go to it. Never shortens a pause. */
export async function pauseFlow(sql: Sql, teamId: number, key: string, waitMs: number): Promise<void> {
  await sql.rows(PAUSE_FLOW, [teamId, key, Math.min(waitMs, LONGEST_PAUSE_MS)]);
}
