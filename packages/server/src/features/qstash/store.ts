import type { PageRequest } from "../../domain/page.ts";
import { type Sql, statement } from "../../store/sql.ts";

export interface Endpoint {
  readonly name?: string;
  readonly url: string;
}

export interface UrlGroup {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const COLUMNS = `name, endpoints, created_at as "createdAt", updated_at as "updatedAt"`;

const FIND_URL_GROUP = statement(
  "find_url_group",
  `select ${COLUMNS} from url_groups where team_id = $1 and name = $2`,
  { prepared: true },
);
const LOCK_URL_GROUP = statement("lock_url_group", `${FIND_URL_GROUP.text} for update`);

export async function findUrlGroup(sql: Sql, teamId: number, name: string): Promise<UrlGroup | null> {
  const rows = await sql.rows<UrlGroup>(FIND_URL_GROUP, [teamId, name]);
  return rows[0] ?? null;
}

/** Must run in the transaction that changes it. */
export async function lockUrlGroup(sql: Sql, teamId: number, name: string): Promise<UrlGroup | null> {
  const rows = await sql.rows<UrlGroup>(LOCK_URL_GROUP, [teamId, name]);
  return rows[0] ?? null;
}

/** From one group to the next, and no further than the bytes: a page of the largest groups would be 800 MB. */
const LIST_URL_GROUPS = statement(
  "list_url_groups",
  `with recursive walk as (
     (select 1 as place, octet_length(endpoints::text) as bytes, name, endpoints, created_at, updated_at
        from url_groups where team_id = $1 and ($2::text is null or name > $2) order by name limit 1)
     union all
     select w.place + 1, w.bytes + octet_length(g.endpoints::text), g.name, g.endpoints, g.created_at, g.updated_at
       from walk w cross join lateral (
         select * from url_groups where team_id = $1 and name > w.name order by name limit 1) g
      where w.place < $3 and w.bytes <= $4)
   select ${COLUMNS} from walk order by place`,
  { patience: "list" },
);

/** By name; fewer than the limit only behind the last group, or behind so many bytes of endpoints. */
export function listUrlGroups(
  sql: Sql,
  teamId: number,
  { limit, cursor }: PageRequest,
  bytes: number,
): Promise<UrlGroup[]> {
  return sql.rows<UrlGroup>(LIST_URL_GROUPS, [teamId, cursor, limit, bytes]);
}

const COUNT_URL_GROUPS = statement(
  "count_url_groups",
  "select count(*)::integer as count from url_groups where team_id = $1",
);

export async function countUrlGroups(sql: Sql, teamId: number): Promise<number> {
  const [row] = await sql.rows<{ count: number }>(COUNT_URL_GROUPS, [teamId]);
  return row?.count ?? 0;
}

const INSERT_URL_GROUP = statement(
  "insert_url_group",
  `insert into url_groups (team_id, name, endpoints) values ($1, $2, $3::jsonb)
   on conflict (team_id, name) do nothing returning name`,
);

/** False if the name is taken. */
export async function insertUrlGroup(
  sql: Sql,
  teamId: number,
  name: string,
  endpoints: readonly Endpoint[],
): Promise<boolean> {
  const rows = await sql.rows(INSERT_URL_GROUP, [teamId, name, JSON.stringify(endpoints)]);
  return rows.length === 1;
}

const UPDATE_URL_GROUP = statement(
  "update_url_group",
  "update url_groups set endpoints = $3::jsonb, updated_at = now() where team_id = $1 and name = $2",
);

export async function updateUrlGroup(
  sql: Sql,
  teamId: number,
  name: string,
  endpoints: readonly Endpoint[],
): Promise<void> {
  await sql.rows(UPDATE_URL_GROUP, [teamId, name, JSON.stringify(endpoints)]);
}

const REMOVE_URL_GROUP = statement(
  "remove_url_group",
  "delete from url_groups where team_id = $1 and name = $2 returning name",
);

export async function removeUrlGroup(sql: Sql, teamId: number, name: string): Promise<boolean> {
  const rows = await sql.rows(REMOVE_URL_GROUP, [teamId, name]);
  return rows.length === 1;
}

const REMOVE_OLD_MESSAGE_KEYS = statement(
  "remove_old_message_keys",
  `delete from message_keys k using (
   select team_id, sandbox, key from message_keys where created_at < now() - interval '10 minutes'
    limit $1 for update skip locked) old
  where k.team_id = old.team_id and k.sandbox = old.sandbox and k.key = old.key returning 1`,
  { patience: "chore" },
);

/** Resolves with the number of removed keys. One that a message takes again at this moment stays. */
export async function removeOldMessageKeys(sql: Sql, batch: number): Promise<number> {
  return (await sql.rows(REMOVE_OLD_MESSAGE_KEYS, [batch])).length;
}

/** Of requests in one look: each may have a megabyte of body. */
const LOOK_ROWS = 1_000;
const LOOK_BYTES = 8 * 2 ** 20;

/**
 * The schedules behind one, no further than the bytes, whose size is read without their text. A text that does not contain the
 * name as a member is not parsed: quotes inside of a body are escaped.
 */
const LOOK_FOR_GROUP_SCHEDULE = statement(
  "look_for_group_schedule",
  `select s.id, case when strpos(s.request, $3) > 0 then s.request::jsonb #>> '{message,topic}' = $4 else false end as "isFound"
     from (select id, request, sum(octet_length(request)) over (order by id) - octet_length(request) as before
             from (select id, request from schedules
                    where team_id = $1 and ($2::uuid is null or id > $2) order by id limit $5) next) s
    where s.before < $6
    order by s.id`,
  { patience: "list" },
);

/** A schedule, live or of the sandbox, publishes to the group. */
export async function hasGroupSchedule(sql: Sql, teamId: number, name: string): Promise<boolean> {
  const member = `"topic":${JSON.stringify(name)}`;
  for (let after: string | null = null; ; ) {
    const looked: { readonly id: string; readonly isFound: boolean | null }[] = await sql.rows(
      LOOK_FOR_GROUP_SCHEDULE,
      [teamId, after, member, name, LOOK_ROWS, LOOK_BYTES],
    );
    if (looked.some(({ isFound }) => isFound)) return true;
    after = looked.at(-1)?.id ?? null;
    if (after === null) return false;
  }
}
