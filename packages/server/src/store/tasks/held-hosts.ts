import { type Sql, statement } from "../sql.ts";
import { IS_ORDERED } from "./flow-claim-parts.ts";

/*
 * The hosts that a circuit breaker holds back. A queue that holds any (`holds_hosts`, with its epoch) is claimed by
 * statements that ask `MAY_BEGIN` of each task. So that a claim does not walk over the tasks that may not, they are first taken
 * out of the indexes of due tasks, and wait in breaker_tasks. Queues that hold none pay nothing.
 */

/** The host and port of the task `t`, as `breakerHost` reads them. */
export const HOST_AND_PORT = String.raw`lower(coalesce(substring(t.url from '^[Hh][Tt][Tt][Pp][Ss]?://[/\\]*([^/\\?#]*)'), '') collate "C")`;

/**
 * For the task `t` and a breaker `b` that holds its host: the task has a pass of that breaker as it is now. The epoch of a breaker is its
 * `until`: a pass from before it opened again is void.
 */
export const HAS_PASS = `exists (
                       select 1 from breaker_tasks p
                        where p.team_id = t.team_id and p.task_id = t.id and p.passed_at >= b.until and p.fence = t.fence)`;

/** For a task `t` of a queue that holds hosts: no breaker holds its host, or the task has a pass. */
export const MAY_BEGIN = `not exists (
              select 1 from breakers b
               where b.team_id = t.team_id and b.queue_id = t.queue_id and b.phase <> 'draining' and b.host = ${HOST_AND_PORT}
                 and not ${HAS_PASS})`;

/**
 * The same for an ordered queue, where nobody waits in breaker_tasks: the task at the head of the line is the probe, as soon as
 * the breaker's time is over.
 */
export const LINE_MAY_BEGIN = `not exists (
              select 1 from breakers b
               where b.team_id = t.team_id and b.queue_id = t.queue_id and b.phase = 'open' and b.until > now()
                 and b.host = ${HOST_AND_PORT})`;

/**
 * The CTE with the breakers of these queues, which stay until the transaction ends. Only the hosts in it may be held: a breaker that is being removed
 * is waited for, and is not in it.
 *
 * The race: a task is taken out for a breaker that another transaction removes, and nobody ever gives it a pass. The removal locks the
 * breaker, and then looks for tasks again: see breaker-passes.ts.
 */
export const keptBreakers = (queues: string, condition: string) => `kept_breakers as materialized (
     select b.queue_id, b.host from breakers b
      where b.team_id = $1 and b.queue_id ${queues} and b.phase <> 'draining' and ${condition}
        for key share
   )`;

/**
 * The race: a pass is given to a task while it is taken out, or the other way round. Both lock the row of the task first,
 * and skip it if it is locked.
 */
const holding = (due: string, lanes: string, isOfLane: string) => `with seen as materialized (
     select due.* from ${lanes} cross join generate_series(10, 1, -1) as p(priority)
      cross join lateral (
        select t.ctid as place, t.url, t.team_id, t.queue_id, t.id, t.fence from tasks t
         where t.team_id = $1 and t.queue_id = $2 and ${isOfLane} t.priority = p.priority
           and t.${due} is not null and t.${due} <= now()
         order by t.${due}, t.id limit $3) due
      limit $3
   ), stopped as materialized (
     select t.place from seen t where not ${MAY_BEGIN}
   ), ${keptBreakers("= $2", "exists (select 1 from stopped)")}, waiting as materialized (
     select t.ctid as place, t.id, t.priority, t.run_at, t.fence, ${HOST_AND_PORT} as host from tasks t
      where t.ctid = any (array(select place from stopped)) and t.${due} is not null
        and ${HOST_AND_PORT} in (select host from kept_breakers)
        for update skip locked
   ), taken_out as (
     update tasks t set due_at = null, flow_due_at = null where t.ctid = any (array(select place from waiting))
   ), kept as (
     insert into breaker_tasks as k (team_id, task_id, queue_id, host, priority, due_at, fence)
     select $1, id, $2, host, priority, run_at, fence from waiting
     on conflict (team_id, task_id) do update
        set queue_id = excluded.queue_id, host = excluded.host, priority = excluded.priority, due_at = excluded.due_at,
            fence = excluded.fence, passed_at = null
   )
   select count(*)::integer as held from waiting`;

const HOLD_TASKS = statement("hold_tasks", holding("due_at", "(select 1) one", ""), { patience: "chore" });
const HOLD_FLOW_TASKS = statement(
  "hold_flow_tasks",
  holding(
    "flow_due_at",
    // Ordered flows are left out: a breaker holds only the head of such a line, and the claim takes the head out (flow-line-statement.ts).
    `(select k.flow from unnest($4::text[]) as k(flow)
         where not exists (select 1 from flows f where f.team_id = $1 and not f.sandbox and f.key = k.flow and ${IS_ORDERED})) lane`,
    "t.flow = lane.flow and",
  ),
  { patience: "chore" },
);

/** Due tasks that one statement looks at. */
const BATCH = 1_000;
/** If fewer than this were found, no further ones are looked for: a claim can walk over the rest. */
const MANY = 100;

/**
 * Takes the first due tasks of a queue that may not begin out of the index of due tasks. Returns how many; each task is
 * taken out once, however long its host is held.
 */
export async function holdTasks(sql: Sql, teamId: number, queueId: number): Promise<number> {
  return repeat(() => sql.rows<{ held: number }>(HOLD_TASKS, [teamId, queueId, BATCH]));
}

/** The same for tasks of these flows in the queue. */
export async function holdFlowTasks(
  sql: Sql,
  teamId: number,
  queueId: number,
  flows: readonly string[],
): Promise<number> {
  return repeat(() => sql.rows<{ held: number }>(HOLD_FLOW_TASKS, [teamId, queueId, BATCH, flows]));
}

async function repeat(hold: () => Promise<{ held: number }[]>): Promise<number> {
  for (let total = 0; ; ) {
    const [{ held } = { held: 0 }] = await hold();
    total += held;
    if (held < MANY) return total;
  }
}
