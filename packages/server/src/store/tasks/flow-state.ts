import { IS_ORDERED } from "./flow-claim-parts.ts";
import { holdsFlowLine } from "./ordered-lines.ts";

/*
 * The limits and the state of a flow for those who look at it, as `FlowState` has them: of a row `f` of flows. A claim reads them under its
 * lock by statements of its own.
 */

const PERIOD = "case when f.rate is null then f.task_period else f.period end";

/** The limits that hold. A stored figure wins; rate and period are one. */
export const LIMITS = `coalesce(f.concurrency, f.task_concurrency) as concurrency, coalesce(f.rate, f.task_rate) as rate, ${PERIOD} as period,
   ${IS_ORDERED} as ordered, coalesce(f.on_failure, 'continue') as "onFailure", coalesce(f.hold, 'call') as hold,
   f.paused, f.paused_until as "pausedUntil"`;

/** The places in use, by the rows of the tasks. */
export const TAKEN = `(select count(distinct h.task_id)::integer from flow_holds h
       join tasks a on a.team_id = h.team_id and a.id = h.task_id
      where h.team_id = f.team_id and h.sandbox = f.sandbox and h.flow = f.key
        and case when f.hold = 'task' then a.completed_at is null else a.status = 'active' and a.fence = h.fence end)`;

/** The permits that count at this time, as `begun` and `nextAt`. */
export const windowAt = (now: string) => `(
     select coalesce(sum(b.count), 0)::integer as begun, min(b.at) + make_interval(secs => ${PERIOD}) as "nextAt"
       from (select ${now} - make_interval(secs => ${PERIOD}) as since offset 0) w cross join lateral (
         select p.at, p.count from flow_permits p
          where p.team_id = f.team_id and p.sandbox = f.sandbox and p.flow = f.key and p.at > w.since
         union all
         select h.permit_at, 1 from flow_holds h
          where h.team_id = f.team_id and h.sandbox = f.sandbox and h.flow = f.key and h.permit_at > w.since) b)`;

/** The most holders of a line that are read: more than one there are only where many tasks had begun when it became ordered. */
export const MOST_HOLDERS = 100;

/** Tasks that hold the line of the flow, the oldest first. */
export const HOLDERS = `array(
     select json_build_object('id', t.id, 'shape', t.shape, 'status', t.status, 'runAtMs', (extract(epoch from t.run_at) * 1000)::float8)
       from flow_line_tasks l join tasks t on t.team_id = l.team_id and t.id = l.task_id
      where l.team_id = f.team_id and l.sandbox = f.sandbox and l.flow = f.key and ${IS_ORDERED}
        and ${holdsFlowLine("coalesce(f.on_failure = 'block', false)")}
      order by t.created_at, t.id limit ${MOST_HOLDERS})`;

/** For the task `t`: it kept the place of an earlier attempt. */
export const HAS_PLACE = `exists (
     select 1 from flow_holds h
      where h.team_id = t.team_id and h.sandbox = t.sandbox and h.flow = t.flow and h.task_id = t.id)`;
