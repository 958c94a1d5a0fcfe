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
  /** The most frequent of them, at most `MOST_TOPS`. */
  readonly topTags: readonly { readonly tag: string; readonly count: number }[];
  readonly topMetadata: readonly { readonly key: string; readonly value: string; readonly count: number }[];
  /** The newest of them. */
  readonly id: string;
  readonly shape: "queue" | "direct";
}

/** Long messages differ towards their end, where what they are about is quoted. */
export const FINGERPRINT_LENGTH = 120;
const FINGERPRINT = `left(regexp_replace(coalesce(t.error, ''), '[[:alnum:]_-]*[0-9][[:alnum:]_-]*', '*', 'g'), ${FINGERPRINT_LENGTH})`;

/** Tags and entries of the metadata that a group names. */
const MOST_TOPS = 3;

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

/** Dismissed tasks are scanned like the others, so that the scan stays bounded, and left out then. */
const READ_FAILURE_GROUPS = statement(
  "read_failure_groups",
  `with looked as materialized (
     select f.* from unnest($2::bigint[]) as r(queue_id) cross join lateral (
       select t.queue_id, t.id, t.shape, t.failure_reason, t.completed_at, t.dismissed_at, t.tags, t.metadata, ${HOST} as host,
              ${ANSWER} as answer, coalesce(t.error, '') as error, ${FINGERPRINT} as fingerprint
         from tasks t
        where t.team_id = $1 and t.queue_id = r.queue_id and t.sandbox = $3 and ${inState("'failed'", "$3")} and t.id >= $4
          and t.created_at >= $5
        order by ${listOrder("desc")} limit $6) f
   ), seen as (select queue_id, count(*) >= $6 as is_cut from looked group by queue_id
   ), open as materialized (
     select l.*, dense_rank() over (order by queue_id, host, failure_reason, answer, fingerprint) as place
       from looked l where dismissed_at is null
   ), grouped as (
     select l.place, l.queue_id, l.host, l.failure_reason, l.answer, l.fingerprint, count(*)::integer as count,
            array_agg(width_bucket(extract(epoch from l.completed_at)::float8, $8::float8, $9::float8, $10::integer)) as failed_in,
            (array_agg(l.error order by l.id desc))[1] as error, min(l.completed_at) as first_at, max(l.completed_at) as last_at,
            (array_agg(l.id order by l.id desc))[1] as id, (array_agg(l.shape order by l.id desc))[1] as shape
       from open l group by l.place, l.queue_id, l.host, l.failure_reason, l.answer, l.fingerprint
      order by count(*) desc, max(l.completed_at) desc limit $7
   ), tops as (${topsOf("v.tag", "unnest(l.tags) as v(tag)", "'tag', c.name")}
   ), entries as (${topsOf(
     "array[v.key, v.value]",
     "jsonb_each_text(l.metadata) as v(key, value)",
     "'key', c.name[1], 'value', c.name[2]",
   )})
   select q.name as queue, g.host, g.failure_reason as "failureReason", g.answer, g.fingerprint, g.count, g.failed_in as "failedIn",
          g.error, s.is_cut as "isCapped", g.first_at as "firstAt", g.last_at as "lastAt", g.id, g.shape,
          coalesce(t.tops, '[]') as "topTags", coalesce(e.tops, '[]') as "topMetadata"
     from grouped g join seen s on s.queue_id = g.queue_id
     join queues q on q.team_id = $1 and q.id = g.queue_id
     left join tops t on t.place = g.place left join entries e on e.place = g.place
    order by g.count desc, g.last_at desc`,
  { patience: "list" },
);

/** The most frequent values of each group, as JSON. */
function topsOf(name: string, from: string, members: string): string {
  return `select c.place, json_agg(json_build_object(${members}, 'count', c.count) order by c.rank) as tops
            from (select l.place, ${name} as name, count(*)::integer as count,
                         row_number() over (partition by l.place order by count(*) desc, ${name}) as rank
                    from open l cross join lateral ${from} group by l.place, ${name}) c
           where c.rank <= ${MOST_TOPS} group by c.place`;
}

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
