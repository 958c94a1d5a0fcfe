import type { Postgres } from "./postgres.ts";

/** How a backlog is made: by SQL, where the API would take an hour. */
type Query = Postgres["query"];

/** Copies a task of a queue, whose tasks are all alike, counted as pending like any other. Only the id is another. */
export async function copyTask(query: Query, queue: string, copies: number): Promise<void> {
  await query(
    `with copied as (
       insert into tasks
       select c.*
         from (select t from queues q join tasks t on t.team_id = q.team_id and t.queue_id = q.id
                where q.name = $1 limit 1) found
        cross join generate_series(1, $2::integer) copy
        -- With its number, which is no column, or all copies would have one id.
        cross join lateral jsonb_populate_record(found.t, jsonb_build_object('id', gen_random_uuid(), 'copy', copy)) c
       returning team_id, queue_id
     )
     insert into queue_tallies as t (team_id, queue_id, worker_id, statement, pending)
     select team_id, queue_id, 0, 3, count(*) from copied group by 1, 2
     on conflict (team_id, queue_id, worker_id, statement, sandbox) do update set pending = t.pending + excluded.pending`,
    [queue, copies],
  );
}
