import { prepare, type Sql } from "../sql.ts";

/** Which teams have deliveries due, and how long until the next of the others. */
export interface DueTeams {
  /** The one that waits for longest first. */
  readonly teamIds: readonly number[];
  /** Null if none waits. */
  readonly untilNextMs: number | null;
}

/** More due teams than one look can serve. */
const MOST_TEAMS = 1_000;

/**
 * A question for the teams that have something due. `waiting` is the table and condition of a partial index on (team_id,
 * `at`): the first entry of each team is stepped to, so that the cost follows the number of teams and never what one of
 * them has piled up.
 */
export function dueTeams(name: string, at: string, waiting: string): (sql: Sql) => Promise<DueTeams> {
  const statement = prepare(
    name,
    `with recursive firsts as (
       (select team_id, ${at} as at from ${waiting} order by team_id, ${at} limit 1)
       union all
       select n.team_id, n.at from firsts f cross join lateral (
         select team_id, ${at} as at from ${waiting} and team_id > f.team_id order by team_id, ${at} limit 1) n
     ), due as (
       select team_id, at from firsts where at <= now() order by at limit ${MOST_TEAMS}
     )
     select team_id as "teamId", null::float8 as "untilMs" from due
     union all
     select null, extract(epoch from min(at) - clock_timestamp())::float8 * 1000 from firsts where at > now()`,
  );
  return async (sql) => {
    const rows = await sql.rows<{ teamId: number | null; untilMs: number | null }>(statement);
    const teamIds = rows.flatMap(({ teamId }) => teamId ?? []);
    return { teamIds, untilNextMs: rows.find(({ teamId }) => teamId === null)?.untilMs ?? null };
  };
}

/** How many deliveries a node has room for, by team. */
export interface TeamRoom {
  readonly teamId: number;
  readonly most: number;
}

/** The rows that a claim of deliveries takes: of each team at most as many as there is room for, the oldest first. */
export function pickedByTeam(
  at: string,
  waiting: string,
  parameters: { rooms: string; worker: string },
): string {
  return `select p.team_id, p.id
       from jsonb_to_recordset(${parameters.rooms}::jsonb) as r("teamId" integer, most integer)
       cross join lateral (
         select team_id, id from ${waiting} and team_id = r."teamId" and ${at} <= now()
          order by ${at} limit r.most for update skip locked
       ) p
      where exists (select 1 from workers where id = ${parameters.worker})`;
}
