import type { Call } from "../../domain/call.ts";
import type { Message } from "../../domain/message.ts";
import type { Reach } from "../../domain/reach.ts";
import { LAST_ID } from "../../domain/task-filter.ts";
import { activeTasks } from "../../store/claim-batches.ts";
import { inState, listOrder } from "../../store/list-index.ts";
import { type Sql, statement } from "../../store/sql.ts";
import { LAST_CODE } from "../../store/tasks/task-attempts.ts";
import { HOST } from "../../store/tasks/task-search.ts";
import { type MessageFilter, wantedIds } from "./domain-filter.ts";

/** Messages to look for: those in some states by the index of lists, otherwise along all tasks of the team. */
export interface MessageSearch {
  readonly filter: MessageFilter;
  readonly statuses: readonly string[] | null;
  /** Newest first, after this id. */
  readonly after: string | null;
  readonly limit: number;
}

export interface FoundMessages {
  readonly ids: readonly string[];
  /** Where to continue; null if there are no more. */
  readonly next: string | null;
}

/** Tasks scanned by one search: what can be scanned in a tenth of a second. */
const MOST_SCANNED = 10_000;

const PATH = `coalesce(substring(t.url from '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]*(/[^?#]*)'), '/')`;

/** In the order of their ids, newest first. The scan is bounded: `next` says where it ended. */
export async function searchMessages(
  sql: Sql,
  { teamId, environment }: Reach,
  search: MessageSearch,
): Promise<FoundMessages> {
  const { filter, statuses, after, limit } = search;
  const values: unknown[] = [teamId, environment === "test", after ?? LAST_ID, MOST_SCANNED, limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const ids = wantedIds(filter);
  const isHit = conditions(filter, statuses, bind).join(" and ");
  const within = "t.team_id = $1 and t.sandbox = $2::boolean and t.id < $3::uuid";
  const scan = () => {
    if (ids !== null)
      return `select t.id, ${isHit} as hit from tasks t where ${within} and t.id = any(${bind(ids)}::uuid[])`;
    if (statuses === null) return `select t.id, ${isHit} as hit from tasks t where ${within}`;
    const listed = `select t.id, ${isHit} as hit from tasks t
       where ${within} and t.queue_id = q.id and ${inState("s.status", "$2::boolean")}
       order by ${listOrder("desc")} limit $4`;
    const held = `select t.id, ${isHit} as hit ${activeTasks("$1")} and ${within}`;
    return `select l.id, l.hit from queues q cross join unnest(${bind(statuses)}::text[]) as s(status)
             cross join lateral (${listed}) l where q.team_id = $1
             ${statuses.includes("active") ? `union ${held}` : ""}`;
  };
  // Only the hits leave the database: thousands of rows that are none would cost the event loop.
  const text = `with scanned as materialized (select id, hit from (${scan()}) x order by id desc limit $4)
    select array(select id::text from scanned where hit order by scanned.id desc limit $5::integer) as hits,
           case when (select count(*) from scanned) = $4 then (select id::text from scanned order by scanned.id limit 1) end as last`;
  const [found] = await sql.rows<{ hits: readonly string[]; last: string | null }>(
    statement("search_messages", text, { patience: "list" }),
    values,
  );
  const { hits, last } = found ?? { hits: [], last: null };
  const page = hits.slice(0, limit);
  return { ids: page, next: hits.length > limit ? (page.at(-1) ?? null) : last };
}

/** Whether the task `t` is a message that matches. */
function conditions(
  filter: MessageFilter,
  statuses: readonly string[] | null,
  bind: (value: unknown) => string,
): string[] {
  const anyOf = (expression: string, wanted: readonly string[] | null) =>
    wanted === null ? [] : [`coalesce(${expression} = any(${bind(wanted)}::text[]), false)`];
  const { labels, from, to, queues, responseStatuses } = filter;
  return [
    "t.message is not null",
    ...(statuses === null ? [] : [`t.status = any(${bind(statuses)}::text[])`]),
    ...(labels === null ? [] : [`coalesce(t.tags && ${bind(labels)}::text[], false)`]),
    ...(from === null ? [] : [`t.created_at >= ${bind(from)}`]),
    ...(to === null ? [] : [`t.created_at <= ${bind(to)}`]),
    ...(queues === null
      ? []
      : [`t.queue_id in (select id from queues where team_id = $1 and name = any(${bind(queues)}::text[]))`]),
    ...(responseStatuses === null
      ? []
      : [`coalesce((${LAST_CODE})::integer, 0) = any(${bind(responseStatuses)}::integer[])`]),
    ...anyOf("t.message #>> '{flow,key}'", filter.flowKeys),
    ...anyOf("t.message ->> 'topic'", filter.topics),
    ...anyOf("t.message ->> 'schedule'", filter.schedules),
    ...anyOf("t.url", filter.urls),
    ...anyOf(HOST, filter.hosts),
    ...anyOf(PATH, filter.paths),
  ];
}

/**
 * Headers go by their names: those of the retry replace what the message has, and what an earlier retry has added is
 * gone, so that retries cannot pile them up.
 */
const OVERRIDE_MESSAGE = statement(
  "override_message",
  `with found as (
     select team_id, id, coalesce(headers, '{}') as headers, array(select jsonb_array_elements_text(message -> 'added')) as added
       from tasks
      where team_id = $1 and sandbox = $2::boolean and id = $3 and status = 'failed' and message is not null
        for update
   ), own as (
     select team_id, id, case when $5::jsonb = '{}' then headers else headers - added end as headers, added from found
   ), changed as (
     select team_id, id, headers || $5::jsonb as headers,
            case when $5::jsonb = '{}' then added else array(select name from jsonb_object_keys($5::jsonb) name where not headers ? name) end as added
       from own
   ), made as (
     select team_id, id, headers, $8::jsonb || jsonb_build_object('added', added) as message from changed
   )
   update tasks t
      set method = coalesce($4, t.method),
          headers = nullif(m.headers, '{}'),
          max_retries = coalesce($6::integer, t.max_retries),
          timeout_seconds = coalesce($7::integer, t.timeout_seconds),
          message = t.message || m.message
     from made m where t.team_id = m.team_id and t.id = m.id and t.status = 'failed'
   returning coalesce(t.headers, '{}') as headers`,
);

/** Changes a failed message before it is retried. Returns the headers that it has then; null if it is in another state. */
export async function overrideMessage(
  sql: Sql,
  { teamId, environment }: Reach,
  id: string,
  given: {
    readonly method: string | null;
    readonly headers: Call["headers"];
    readonly retries: number | null;
    readonly timeoutSeconds: number | null;
    readonly changed: Partial<Message>;
  },
): Promise<Call["headers"] | null> {
  const [row] = await sql.rows<Pick<Call, "headers">>(OVERRIDE_MESSAGE, [
    teamId,
    environment === "test",
    id,
    given.method,
    JSON.stringify(given.headers),
    given.retries,
    given.timeoutSeconds,
    JSON.stringify(given.changed),
  ]);
  return row?.headers ?? null;
}
