import type { FailureReason } from "../../domain/task.ts";
import { inState, listOrder } from "../../store/list-index.ts";
import { type Sql, statement } from "../../store/sql.ts";
import { HOST } from "../../store/tasks/task-search.ts";

/** A failed task, as far as failures are grouped by it. */
export interface FailedTask {
  readonly queueId: number;
  readonly id: string;
  readonly shape: "queue" | "direct";
  readonly host: string;
  readonly failureReason: FailureReason | null;
  /** The answer to the last attempt: a status code, `timeout`, `network`; null if it did not finish. */
  readonly answer: string | null;
  /** Its error, with `*` for every word that has a digit; at most `FINGERPRINT_LENGTH` characters of it. */
  readonly fingerprint: string;
  readonly completedAt: Date;
  readonly isDismissed: boolean;
  readonly tags: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** Long messages differ towards their end, where what they are about is quoted. */
export const FINGERPRINT_LENGTH = 120;
const FINGERPRINT = `left(regexp_replace(coalesce(t.error, ''), '[[:alnum:]_-]*[0-9][[:alnum:]_-]*', '*', 'g'), ${FINGERPRINT_LENGTH})`;

/** With the values of the filter `response_code`, see `answered` in task-search.ts. */
const ANSWER = `case when a.last ->> 'code' is not null then a.last ->> 'code'
                     when a.last ->> 'status' = 'timeout' then 'timeout'
                     when a.last ->> 'status' = 'failed' and a.last ->> 'phase' <> 'responded' then 'network' end`;

const QUEUES_WITH_FAILURES = statement(
  "queues_with_failures",
  `select t.queue_id::float8 as id, q.name from queue_tallies t join queues q on q.team_id = t.team_id and q.id = t.queue_id
    where t.team_id = $1 and t.sandbox = $2
    group by t.queue_id, q.name having sum(t.failed) > 0 order by t.queue_id`,
);

export async function queuesWithFailures(
  sql: Sql,
  { teamId, sandbox }: { readonly teamId: number; readonly sandbox: boolean },
): Promise<{ readonly id: number; readonly name: string }[]> {
  return sql.rows(QUEUES_WITH_FAILURES, [teamId, sandbox]);
}

/** Where a slice begins in a queue, and how many tasks of it are in the slice at most. */
export interface QueueSlice {
  readonly queueId: number;
  /** Only tasks behind this id, which is the newest that is not wanted. */
  readonly before: string;
  readonly most: number;
}

/** The host and the words of the error are worked out above the limit: of the tasks in the slice, not of all that failed. */
const READ_FAILED_TASKS = statement(
  "read_failed_tasks",
  `select r.queue_id::float8 as "queueId", t.id, t.shape, ${HOST} as host, t.failure_reason as "failureReason",
          ${ANSWER} as answer, ${FINGERPRINT} as fingerprint, t.completed_at as "completedAt",
          t.dismissed_at is not null as "isDismissed", t.tags, t.metadata
     from unnest($2::bigint[], $3::uuid[], $4::integer[]) with ordinality as r(queue_id, before, most, place)
    cross join lateral (
      select t.id, t.shape, t.url, t.failure_reason, t.attempts, t.error, t.completed_at, t.dismissed_at, t.tags, t.metadata
        from tasks t
       where t.team_id = $1 and t.queue_id = r.queue_id and t.sandbox = $5 and ${inState("'failed'", "$5")}
         and t.id < r.before and t.id >= $6 and t.created_at >= $7
       order by ${listOrder("desc")} limit r.most) t
    cross join lateral (select t.attempts -> -1 as last offset 0) a
    order by r.place, t.id desc`,
  { patience: "list" },
);

/** One slice of failed tasks, dismissed ones too: queue by queue, the newest first. Each queue is walked along the list index. */
export async function readFailedTasks(
  sql: Sql,
  of: {
    readonly teamId: number;
    readonly sandbox: boolean;
    readonly createdAfter: Date;
    /** The lowest id of a task created at that time. */
    readonly lowestId: string;
  },
  slices: readonly QueueSlice[],
): Promise<FailedTask[]> {
  return sql.rows<FailedTask>(READ_FAILED_TASKS, [
    of.teamId,
    slices.map(({ queueId }) => queueId),
    slices.map(({ before }) => before),
    slices.map(({ most }) => most),
    of.sandbox,
    of.lowestId,
    of.createdAfter,
  ]);
}

const READ_ERRORS = statement(
  "read_errors",
  "select id, coalesce(error, '') as error from tasks where team_id = $1 and id = any($2::uuid[])",
);

export async function readErrors(
  sql: Sql,
  teamId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.rows<{ id: string; error: string }>(READ_ERRORS, [teamId, ids]);
  return new Map(rows.map(({ id, error }) => [id, error]));
}
