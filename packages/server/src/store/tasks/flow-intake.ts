import type { NewTask } from "../../domain/task.ts";

/*
 * The parts of an insert for a batch with flows: the backlog that a stored limit allows, and what the tasks carry. Each figure
 * of a key is that of the newest task that carried it. A task that carries what holds already writes nothing.
 */

/**
 * The CTE with the tasks that find too many tasks of their flow waiting. `asked` has the batch. Inserts on several nodes at once
 * may each find the last place: the limit is exact for one node.
 */
export const REFUSED = `refused as materialized (
     select id from (
       select a.id, f.max_waiting, f.key, f.team_id,
              row_number() over (partition by f.team_id, f.key order by a.id) as place
         from asked a join flows f on f.team_id = a.team_id and f.sandbox = coalesce(a.sandbox, false) and f.key = a.flow
        where f.max_waiting is not null and coalesce(a.delay_seconds, 0) = 0 and a.run_at is null) w
      where place + (select count(*) from (
              select 1 from tasks t
               where t.team_id = w.team_id and t.flow = w.key and t.flow_due_at is not null and t.flow_due_at <= now()
               limit w.max_waiting) due) > max_waiting
   ), `;

export const NOT_REFUSED = "id not in (select id from refused) and";

/** The CTEs that keep the figures. `carried` is the parameter with `carriedFigures`. */
export const keepingFigures = (carried: string) => `, carried as (
     select i.team_id, i.sandbox, i.flow as key,
            (array_agg(c.concurrency order by i.id desc) filter (where c.concurrency is not null))[1] as concurrency,
            (array_agg(c.rate order by i.id desc) filter (where c.rate is not null))[1] as rate,
            (array_agg(c.period order by i.id desc) filter (where c.rate is not null))[1] as period,
            (array_agg(c.ordered order by i.id desc) filter (where c.ordered is not null))[1] as ordered
       from inserted i
       join jsonb_to_recordset(${carried}::jsonb) as c(id uuid, concurrency integer, rate integer, period integer, ordered boolean) on c.id = i.id
      group by i.team_id, i.sandbox, i.flow
   ), figured as (
     insert into flows as f (team_id, sandbox, key, task_concurrency, task_rate, task_period, task_ordered)
     select c.team_id, c.sandbox, c.key, c.concurrency, c.rate, c.period, c.ordered from carried c
      where not exists (
        select 1 from flows k
         where k.team_id = c.team_id and k.sandbox = c.sandbox and k.key = c.key
           and (c.concurrency is null or c.concurrency = k.task_concurrency)
           and (c.rate is null or (c.rate = k.task_rate and c.period = k.task_period))
           and (c.ordered is null or c.ordered = k.task_ordered))
      order by c.team_id, c.sandbox, c.key
     on conflict (team_id, sandbox, key) do update
        set task_concurrency = coalesce(excluded.task_concurrency, f.task_concurrency),
            task_rate = coalesce(excluded.task_rate, f.task_rate),
            task_period = coalesce(excluded.task_period, f.task_period),
            task_ordered = coalesce(excluded.task_ordered, f.task_ordered),
            line_at = case when coalesce(f.ordered, excluded.task_ordered, f.task_ordered, false) then f.line_at end
   )`;

/** What the tasks of a batch carry. */
export function carriedFigures(tasks: readonly NewTask[]): string {
  return JSON.stringify(
    tasks.flatMap(({ id, flow }) =>
      flow === null
        ? []
        : {
            id,
            concurrency: flow.concurrency,
            rate: flow.rate,
            period: flow.period,
            ordered: flow.ordered,
          },
    ),
  );
}
