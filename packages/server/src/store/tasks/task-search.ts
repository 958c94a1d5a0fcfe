import { TASK_STATUSES } from "../../domain/task.ts";
import { idRange, type LastAnswer, type Order, type TaskFilter } from "../../domain/task-filter.ts";
import { activeTasks } from "../claim-batches.ts";
import { inState, listOrder } from "../list-index.ts";
import { type Sql, statement } from "../sql.ts";
import { LAST_CODE } from "./task-attempts.ts";

/*
 * Filters without an index scan tasks one by one, in id order. The number of scanned tasks is limited: if the limit
 * ends the scan before the list or the page is complete, the answer says how far it came, and the next search continues
 * there. No task is silently skipped.
 */

export interface Search {
  readonly order: Order;
  /** The id after which it begins; null for the beginning. */
  readonly after: string | null;
  /** The maximum number of results. */
  readonly limit: number;
  /** The maximum number of scanned tasks. */
  readonly most: number;
}

export interface Found {
  readonly ids: readonly string[];
  /** Where to continue; null if there are no more. */
  readonly next: string | null;
}

/** With more ranges than this each would be too short to make progress: the search walks along the ids instead. */
const MOST_RANGES = 50;

/** One scanned range: the number of tasks, the last of them, and the matches. */
interface Stretch {
  readonly seen: number;
  readonly last: string | null;
  readonly matches: number;
  readonly ids: readonly string[] | null;
}

/** The first matching tasks. */
export async function searchTasks(
  sql: Sql,
  teamId: number,
  filter: TaskFilter,
  search: Search,
): Promise<Found> {
  const { stretches, most } = await look(sql, teamId, filter, search);
  const isBefore = (one: string, other: string) => (search.order === "desc" ? one > other : one < other);
  // If a range was cut, tasks after its end may be missing, and so may later ones of the other ranges.
  const horizon = stretches
    .flatMap(({ seen, last }) => (seen === most && last !== null ? [last] : []))
    .reduce<string | null>((first, end) => (first === null || isBefore(end, first) ? end : first), null);
  const ids = stretches
    .flatMap((stretch) => stretch.ids ?? [])
    .filter((id) => horizon === null || !isBefore(horizon, id))
    .sort((one, other) => (isBefore(one, other) ? -1 : 1));
  if (ids.length <= search.limit && horizon === null) return { ids, next: null };
  const page = ids.slice(0, search.limit);
  return { ids: page, next: ids.length > search.limit ? (page.at(-1) ?? null) : horizon };
}

/** The number of matching tasks among the scanned ones. `isWhole`: all tasks were scanned. */
export async function countMatches(
  sql: Sql,
  teamId: number,
  filter: TaskFilter,
  most: number,
): Promise<{ readonly total: number; readonly isWhole: boolean }> {
  if (listOf(filter) !== null) return countListed(sql, teamId, filter, most);
  const looked = await look(sql, teamId, filter, { order: "desc", after: null, limit: 0, most });
  return {
    total: looked.stretches.reduce((sum, { matches }) => sum + matches, 0),
    isWhole: looked.stretches.every(({ seen }) => seen < looked.most),
  };
}

/**
 * Along a tag or a schedule. Only a number is needed, so all tasks are looked up at once by an array of ids: PostgreSQL
 * sorts it and reads each page of the index once, where a join would read four pages per task.
 */
async function countListed(sql: Sql, teamId: number, filter: TaskFilter, most: number) {
  const values: unknown[] = [teamId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const listed = listOf(filter);
  const queues = filter.queue === null ? null : await queueIds(sql, teamId, filter.queue);
  const isMatch = matching(filter, { queues, statuses: statusesOf(filter) }, bind);
  // One more than the limit shows whether there are others.
  const ids = `select task_id from ${listed?.table} where team_id = $1 and ${listed?.key} = ${bind(listed?.value)}
                  ${idsWithin(filter, null, bind)("task_id")} order by task_id desc limit ${bind(most + 1)}`;
  const [row] = await sql.rows<{ seen: number; total: number }>(
    statement(
      "count_searched",
      `with listed as materialized (select array_agg(task_id) as ids, count(*)::integer as seen from (${ids}) g)
       select coalesce((select seen from listed), 0) as seen, (count(*) filter (where x.hit))::integer as total
         from (select ${isMatch} as hit from tasks t
                where t.team_id = $1 and t.id = any((select l.ids[1:${bind(most)}] from listed l)::uuid[])) x`,
      { patience: "list" },
    ),
    values,
  );
  return { total: row?.total ?? 0, isWhole: (row?.seen ?? 0) <= most };
}

/** The condition that an id is within the times of the filter, and after the start of the search. */
function idsWithin(
  filter: TaskFilter,
  goOn: { readonly after: string; readonly order: Order } | null,
  bind: (value: unknown) => string,
): (id: string) => string {
  const { low, high } = idRange(filter);
  return (id) =>
    [
      ...(goOn === null ? [] : [`and ${id} ${goOn.order === "desc" ? "<" : ">"} ${bind(goOn.after)}`]),
      ...(low === null ? [] : [`and ${id} >= ${bind(low)}`]),
      ...(high === null ? [] : [`and ${id} <= ${bind(high)}`]),
    ].join(" ");
}

/**
 * Scans along the tag or the schedule, along the ranges of queues and states if they are few, or else along all tasks
 * of the team.
 */
async function look(
  sql: Sql,
  teamId: number,
  filter: TaskFilter,
  { order, after, limit, most }: Search,
): Promise<{ readonly stretches: readonly Stretch[]; readonly most: number }> {
  const values: unknown[] = [teamId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const within = idsWithin(filter, after === null ? null : { after, order }, bind);
  const statuses = statusesOf(filter);
  const listed = listOf(filter);
  const isRanged = filter.queue !== null || statuses !== null || filter.sandbox;
  const queues =
    filter.queue === null && (listed !== null || !isRanged)
      ? null
      : await queueIds(sql, teamId, filter.queue);
  const ranges = listed === null && isRanged ? rangesOf(queues ?? [], statuses ?? TASK_STATUSES) : null;
  const isMatch = matching(filter, { queues: filter.queue === null ? null : queues, statuses }, bind);
  const mayBeActive = !filter.sandbox && (statuses === null || statuses.includes("active"));
  const isFew = ranges !== null && ranges.length <= MOST_RANGES;
  const each = isFew ? Math.max(1, Math.floor(most / Math.max(1, ranges.length))) : most;

  const stretch = (source: string) =>
    `select count(*)::integer as seen, (array_agg(x.id))[count(*)::integer] as last,
            (count(*) filter (where x.hit))::integer as matches,
            (array_agg(x.id) filter (where x.hit))[1:${bind(limit + 1)}::integer] as ids
       from (${source}) x`;
  const row = `t.id, ${isMatch} as hit`;
  const text = () => {
    if (listed !== null)
      return stretch(
        // A deleted task still counts as a scanned one.
        `select g.task_id as id, coalesce(${isMatch}, false) as hit
           from (select team_id, task_id from ${listed.table}
                  where team_id = $1 and ${listed.key} = ${bind(listed.value)} ${within("task_id")}
                  order by task_id ${order} limit ${bind(each)}) g
           left join tasks t on t.team_id = g.team_id and t.id = g.task_id`,
      );
    if (!isFew)
      return stretch(
        `select ${row} from tasks t where t.team_id = $1 ${within("t.id")} order by t.id ${order} limit ${bind(each)}`,
      );
    const sandbox = `${bind(filter.sandbox)}::boolean`;
    return `select s.* from unnest(${bind(ranges.map(({ queueId }) => queueId))}::bigint[],
                                   ${bind(ranges.map(({ status }) => status))}::text[]) as r(queue_id, status)
             cross join lateral (${stretch(
               `select ${row} from tasks t
                 where t.team_id = $1 and t.queue_id = r.queue_id and t.sandbox = ${sandbox}
                   and ${inState("r.status", sandbox)} ${within("t.id")}
                 order by ${listOrder(order)} limit ${bind(each)}`,
             )}) s
            union all ${stretch(
              `select distinct on (t.id) ${row} ${activeTasks("$1")} and ${mayBeActive}
                  and t.queue_id = any(${bind(queues)}::bigint[]) ${within("t.id")}
                order by t.id ${order} limit ${bind(each)}`,
            )}`;
  };
  return {
    stretches: await sql.rows<Stretch>(statement("search_tasks", text(), { patience: "list" }), values),
    most: each,
  };
}

/** The table that lists tasks by one of their values, in id order. Of several tags the first is walked along. */
function listOf({ tags, scheduleId }: TaskFilter) {
  const tag = tags?.[0];
  if (tag !== undefined) return { table: "task_tags", key: "tag", value: tag };
  return scheduleId === null ? null : { table: "schedule_firings", key: "schedule_id", value: scheduleId };
}

/** Only a failed task has a reason, or was dismissed. */
function statusesOf({ statuses, failureReason, dismissed }: TaskFilter): TaskFilter["statuses"] {
  if (failureReason === null && dismissed !== true) return statuses;
  return statuses === null || statuses.includes("failed") ? ["failed"] : [];
}

function rangesOf(queues: readonly number[], statuses: readonly string[]) {
  return queues.flatMap((queueId) => statuses.map((status) => ({ queueId, status })));
}

const QUEUE_IDS = statement(
  "queue_ids",
  "select id::float8 as id from queues where team_id = $1 and ($2::text is null or name = $2)",
);

/** Including deleted queues: their tasks are still listed under their name. */
async function queueIds(sql: Sql, teamId: number, name: string | null): Promise<number[]> {
  const rows = await sql.rows<{ id: number }>(QUEUE_IDS, [teamId, name]);
  return rows.map(({ id }) => id);
}

/** Whether the task `t` matches: cheap conditions first. */
function matching(
  filter: TaskFilter,
  { queues, statuses }: { queues: readonly number[] | null; statuses: TaskFilter["statuses"] },
  bind: (value: unknown) => string,
): string {
  const { createdAfter, createdBefore, hosts, provider, scheduleId, failureReason, lastAnswer } = filter;
  const conditions = [`t.sandbox = ${bind(filter.sandbox)}`];
  if (queues !== null) conditions.push(`t.queue_id = any(${bind(queues)}::bigint[])`);
  if (statuses !== null) conditions.push(`t.status = any(${bind(statuses)}::text[])`);
  if (createdAfter !== null) conditions.push(`t.created_at >= ${bind(createdAfter)}`);
  if (createdBefore !== null) conditions.push(`t.created_at < ${bind(createdBefore)}`);
  if (scheduleId !== null) conditions.push(`t.schedule_id is not distinct from ${bind(scheduleId)}`);
  if (provider !== null) conditions.push(`t.provider is not distinct from ${bind(provider)}`);
  if (failureReason !== null) conditions.push(`t.failure_reason is not distinct from ${bind(failureReason)}`);
  if (hosts !== null) conditions.push(isAt(hosts, bind));
  if (lastAnswer !== null) conditions.push(`coalesce(${answered(lastAnswer, bind)}, false)`);
  if (filter.dismissed !== null)
    conditions.push(`t.dismissed_at is ${filter.dismissed ? "not null" : "null"}`);
  if (filter.tags !== null && filter.tags.length > 1)
    conditions.push(`coalesce(t.tags @> ${bind(filter.tags)}::text[], false)`);
  if (filter.metadata !== null)
    conditions.push(`coalesce(t.metadata @> ${bind(JSON.stringify(filter.metadata))}::jsonb, false)`);
  if (filter.error !== null)
    conditions.push(`coalesce(t.error ilike ${bind(likePattern(filter.error))}, false)`);
  return `(${conditions.join(" and ")})`;
}

/** Two cheap tests, ten times as fast as extracting the host from any URL, which comes last. */
function isAt(hosts: readonly string[], bind: (value: unknown) => string): string {
  const plainly = hosts.flatMap((host) =>
    ["http://", "https://"].map((scheme) => {
      const start = scheme + host;
      return String.raw`starts_with(lower(t.url), ${bind(start)}) and substr(t.url, ${start.length + 1}, 1) in ('', '/', ':', '?', '#', '\')`;
    }),
  );
  const anywhere = hosts.map((host) => `strpos(lower(t.url), ${bind(host)}) > 0`);
  return `(${plainly.join(" or ")} or ((${anywhere.join(" or ")}) and ${HOST} = any(${bind(hosts)}::text[])))`;
}

/** In the language of `like`: `*` is `%`, and what means something there stands for itself. */
function likePattern(pattern: string): string {
  return pattern.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%");
}

/** The part between `//` and port or path, by URL rules: see `isCallUrl`, which refuses user names. */
export const HOST = String.raw`lower(coalesce(substring(t.url from '^[Hh][Tt][Tt][Pp][Ss]?://[/\\]*(\[[^]]*\]|[^/\\?#:]*)'), ''))`;

function answered(wanted: LastAnswer, bind: (value: unknown) => string): string {
  const last = "t.attempts -> -1";
  if ("least" in wanted)
    return `(${LAST_CODE})::integer between ${bind(wanted.least)} and ${bind(wanted.most)}`;
  return wanted.none === "timeout"
    ? `${last} ->> 'status' = 'timeout'`
    : `${last} ->> 'status' = 'failed' and ${last} ->> 'phase' <> 'responded'`;
}
