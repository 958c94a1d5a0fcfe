import type { Candidate } from "../../domain/gate/decision.ts";
import type { FlowState } from "../../domain/gate/gate.ts";
import type { Sql } from "../sql.ts";
import { statement } from "../sql.ts";
import { HAS_PLACE, HOLDERS, LIMITS, TAKEN, windowAt } from "./flow-state.ts";
import { aheadSeconds } from "./sandbox-clocks.ts";

/*
 * The flows of sandboxes. No index has their waiting tasks: a task that its flow holds is pending and has no next step until the flow
 * changes. Every transaction that decides which tasks begin holds the lock of the flow's row. All times are times of the sandbox clock.
 */

/** A sandbox flow, by the time of its clock. */
export interface SandboxFlow extends FlowState {
  readonly now: Date;
}

const LOCK_SANDBOX_FLOW = statement(
  "lock_sandbox_flow",
  "update flows set used_at = now() where team_id = $1 and sandbox and key = $2 returning 1",
);

const SANDBOX_NOW = "(now() + make_interval(secs => $3::float8 / 1000))";

const LOOK_AT_SANDBOX_FLOW = statement(
  "look_at_sandbox_flow",
  `select f.key, ${LIMITS}, ${TAKEN} as taken, w.begun, w."nextAt", ${HOLDERS} as holders, ${SANDBOX_NOW} as now
     from flows f cross join lateral ${windowAt(SANDBOX_NOW)} w
    where f.team_id = $1 and f.sandbox and f.key = $2`,
);

/** Locks the flow until the end of the transaction. Null: the flow has no row, and so no limits. */
export async function lockSandboxFlow(
  sql: Sql,
  teamId: number,
  key: string,
  aheadMs: number,
): Promise<SandboxFlow | null> {
  await sql.rows(LOCK_SANDBOX_FLOW, [teamId, key]);
  const [flow] = await sql.rows<SandboxFlow>(LOOK_AT_SANDBOX_FLOW, [teamId, key, aheadMs]);
  return flow ?? null;
}

/** A pending task of a flow whose time has come. */
export interface SandboxCandidate extends Pick<Candidate, "id" | "priority" | "dueMs"> {
  /** The task kept the place of an earlier attempt. */
  readonly hasPlace: boolean;
  /** The task is the oldest of all, including those that another transaction has locked. */
  readonly isOldest: boolean;
}

const ARE_CANDIDATES = `tasks t join simulations s on s.team_id = t.team_id and s.task_id = t.id
    where t.team_id = $1 and t.sandbox and t.list_key = 'pending' and t.flow = $2 and s.said is not null
      and t.run_at <= now() + make_interval(secs => $3::float8 / 1000)`;

/** Another transaction locks its steps before it locks their flow. To wait for those steps here would be a deadlock. */
const SANDBOX_CANDIDATES = statement(
  "sandbox_candidates",
  `select t.id, t.priority, (extract(epoch from t.run_at) * 1000)::float8 as "dueMs", ${HAS_PLACE} as "hasPlace",
          t.id = (select t.id from ${ARE_CANDIDATES} order by t.created_at, t.id limit 1) as "isOldest"
     from ${ARE_CANDIDATES}
    order by case when $4 then 0 else -t.priority end, case when $4 then t.created_at else t.run_at end, t.id
    limit $5 for update of t, s skip locked`,
);

/**
 * The candidates, those that begin first first. Locks them, and skips those that another transaction has locked: that transaction
 * serves the flow next.
 */
export async function sandboxCandidates(
  sql: Sql,
  { teamId, key, aheadMs, isOrdered, limit }: SandboxQuestion,
): Promise<SandboxCandidate[]> {
  return sql.rows<SandboxCandidate>(SANDBOX_CANDIDATES, [teamId, key, aheadMs, isOrdered, limit]);
}

interface SandboxQuestion {
  readonly teamId: number;
  readonly key: string;
  readonly aheadMs: number;
  readonly isOrdered: boolean;
  readonly limit: number;
}

const TAKE_SANDBOX_PLACES = statement(
  "take_sandbox_places",
  `with begun as materialized (
     select t.id, t.fence, t.retries, t.attempt_started_at from tasks t where t.team_id = $1 and t.id = any ($3::uuid[])
   ), placed as (
     insert into flow_holds (team_id, sandbox, flow, task_id, fence) select $1, true, $2, id, fence from begun
   ), held as (
     insert into flow_line_tasks as l (team_id, sandbox, flow, task_id, retries) select $1, true, $2, id, retries from begun
     on conflict (team_id, sandbox, flow, task_id) do update set retries = excluded.retries
   )
   insert into flow_permits as p (team_id, sandbox, flow, at, count)
   select $1, true, $2, attempt_started_at, count(*) from begun
    where exists (
      select 1 from flows f where f.team_id = $1 and f.sandbox and f.key = $2 and coalesce(f.rate, f.task_rate) is not null)
    group by attempt_started_at
   on conflict (team_id, sandbox, flow, at) do update set count = p.count + excluded.count`,
);

/** For tasks whose attempts have begun in this transaction. */
export async function takeSandboxPlaces(
  sql: Sql,
  teamId: number,
  key: string,
  ids: readonly string[],
): Promise<void> {
  await sql.rows(TAKE_SANDBOX_PLACES, [teamId, key, ids]);
}

const BEGIN_SANDBOX_LINE = statement(
  "begin_sandbox_line",
  `delete from flow_line_tasks l
    where l.team_id = $1 and l.sandbox and l.flow = $2
      and not exists (select 1 from tasks t where t.team_id = l.team_id and t.id = l.task_id and t.completed_at is null)`,
);

/** The flow becomes ordered: tasks that have ended by then do not block its line. */
export async function beginSandboxLine(sql: Sql, teamId: number, key: string): Promise<void> {
  await sql.rows(BEGIN_SANDBOX_LINE, [teamId, key]);
}

const WAKE_SANDBOX_FLOW = statement(
  "wake_sandbox_flow",
  `update simulations s set next_at = least(s.next_at, now())
     from (select t.team_id, t.id from tasks t join simulations w on w.team_id = t.team_id and w.task_id = t.id
             left join sandbox_clocks c on c.team_id = t.team_id
            where t.team_id = $1 and t.sandbox and t.list_key = 'pending' and t.flow = $2 and w.said is not null
              and t.run_at <= now() + make_interval(secs => ${aheadSeconds()})
            -- After a wait they are read again: a task that has begun meanwhile has the end of its call as its next step.
            limit 1 for update of t, w) first
    where s.team_id = first.team_id and s.task_id = first.id`,
);

const WAKE_HELD_TASKS = statement(
  "wake_held_sandbox_tasks",
  `update simulations s set next_at = now()
     from (select distinct on (t.team_id, t.flow) t.team_id, t.id
             from simulations w join tasks t on t.team_id = w.team_id and t.id = w.task_id
            where w.next_at is null and w.said is not null and t.sandbox and t.list_key = 'pending' and t.flow is not null
            order by t.team_id, t.flow, t.id) first
    where s.team_id = first.team_id and s.task_id = first.id and s.next_at is null`,
);

/** Wakes every flow in which a task waits without a next step: a node may have ended before it woke the flow. */
export async function wakeHeldSandboxTasks(sql: Sql): Promise<void> {
  await sql.rows(WAKE_HELD_TASKS);
}

/** The flow changed. One of its tasks gets a next step, which looks at all waiting tasks of the flow. */
export async function wakeSandboxFlow(sql: Sql, teamId: number, key: string): Promise<void> {
  await sql.rows(WAKE_SANDBOX_FLOW, [teamId, key]);
}
