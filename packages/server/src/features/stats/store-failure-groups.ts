import type { FailureReason } from "../../domain/task.ts";
import { inState, listOrder } from "../../store/list-index.ts";
import { type Sql, statement } from "../../store/sql.ts";
import { HOST } from "../../store/tasks/task-search.ts";

export interface FailureQuery {
  readonly teamId: number;
  readonly sandbox: boolean;
  readonly createdAfter: Date;
  /** The lowest id of a task created at that time. */
  readonly lowestId: string;
  /** The maximum of scanned failed tasks in all, and the minimum per queue. */
  readonly most: number;
  readonly leastPerQueue: number;
  readonly groups: number;
  /** Until when failures are counted by steps of the same length, and how many steps there are. */
  readonly until: Date;
  readonly steps: number;
}

/** Failed tasks of a queue with the same host, the same failure, and the same error apart from ids and numbers. */
export interface FailureGroup {
  readonly queue: string;
  readonly host: string;
  readonly failureReason: FailureReason | null;
  /** The answer to the last attempt: a status code, `timeout`, `network`; null if it did not finish. */
  readonly answer: string | null;
  /** Their error, with `*` for every word that has a digit; at most `FINGERPRINT_LENGTH` characters of it. */
  readonly fingerprint: string;
  /** The error of the newest of them. */
  readonly error: string;
  readonly count: number;
  /** Of each task, the step in which it failed, from 1; 0 and one more than there are for those outside. */
  readonly failedIn: readonly number[];
  /** More of the queue's tasks failed than were scanned. */
  readonly isCapped: boolean;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** The newest of them. */
  readonly id: string;
  readonly shape: "queue" | "direct";
}

/** Long messages differ towards their end, where what they are about is quoted. */
export const FINGERPRINT_LENGTH = 120;
const FINGERPRINT = `left(regexp_replace(coalesce(t.error, ''), '[[:alnum:]_-]*[0-9][[:alnum:]_-]*', '*', 'g'), ${FINGERPRINT_LENGTH})`;

const LAST = "t.attempts -> -1";
/** With the values of the filter `response_code`, see `answered` in task-search.ts. */
const ANSWER = `case when ${LAST} ->> 'code' is not null then ${LAST} ->> 'code'
                     when ${LAST} ->> 'status' = 'timeout' then 'timeout'
                     when ${LAST} ->> 'status' = 'failed' and ${LAST} ->> 'phase' <> 'responded' then 'network' end`;

const QUEUES_WITH_FAILURES = statement(
  "queues_with_failures",
  `select queue_id::float8 as id from queue_tallies where team_id = $1 and sandbox = $2
    group by queue_id having sum(failed) > 0`,
);

const READ_FAILURE_GROUPS = statement(
  "read_failure_groups",
  `with looked as materialized (
     select f.* from unnest($2::bigint[]) as r(queue_id) cross join lateral (
       select t.queue_id, t.id, t.shape, t.failure_reason, t.completed_at, ${HOST} as host, ${ANSWER} as answer,
              coalesce(t.error, '') as error, ${FINGERPRINT} as fingerprint
         from tasks t
        where t.team_id = $1 and t.queue_id = r.queue_id and t.sandbox = $3 and ${inState("'failed'", "$3")} and t.id >= $4
          and t.created_at >= $5
        order by ${listOrder("desc")} limit $6) f
   ), seen as (select queue_id, count(*) >= $6 as is_cut from looked group by queue_id)
   select q.name as queue, l.host, l.failure_reason as "failureReason", l.answer, l.fingerprint, count(*)::integer as count,
          array_agg(width_bucket(extract(epoch from l.completed_at)::float8, $8::float8, $9::float8, $10::integer)) as "failedIn",
          (array_agg(l.error order by l.id desc))[1] as error,
          bool_or(s.is_cut) as "isCapped", min(l.completed_at) as "firstAt", max(l.completed_at) as "lastAt",
          (array_agg(l.id order by l.id desc))[1] as id, (array_agg(l.shape order by l.id desc))[1] as shape
     from looked l join seen s on s.queue_id = l.queue_id
     join queues q on q.team_id = $1 and q.id = l.queue_id
    group by q.name, l.host, l.failure_reason, l.answer, l.fingerprint
    order by count(*) desc, max(l.completed_at) desc limit $7`,
  { patience: "list" },
);

/**
 * The newest failed tasks in groups, the largest first. A limited number per queue is scanned along the list index, so
 * the cost is bounded regardless of the number of tasks.
 */
export async function readFailureGroups(sql: Sql, query: FailureQuery): Promise<FailureGroup[]> {
  const queues = await sql.rows<{ id: number }>(QUEUES_WITH_FAILURES, [query.teamId, query.sandbox]);
  if (queues.length === 0) return [];
  const each = Math.max(query.leastPerQueue, Math.floor(query.most / queues.length));
  return sql.rows<FailureGroup>(READ_FAILURE_GROUPS, [
    query.teamId,
    queues.map(({ id }) => id),
    query.sandbox,
    query.lowestId,
    query.createdAfter,
    each,
    query.groups,
    query.createdAfter.getTime() / 1000,
    query.until.getTime() / 1000,
    query.steps,
  ]);
}
