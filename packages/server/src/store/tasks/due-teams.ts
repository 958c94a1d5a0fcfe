import { type Sql, statement } from "../sql.ts";

/** The teams with due items, and the time until the next item of the others. */
export interface DueTeams {
  /** The longest waiting first. */
  readonly teamIds: readonly number[];
  /** Null if none waits. */
  readonly untilNextMs: number | null;
}

/** More due teams than one check can serve. */
const MOST_TEAMS = 1_000;

/**
 * A statement that finds teams with due items. `waiting` is the table and condition of a partial index on (team_id,
 * `at`): it steps to the first entry of each team, so the cost depends on the number of teams, never on one team's
 * backlog.
 */
export function dueTeams(name: string, at: string, waiting: string): (sql: Sql) => Promise<DueTeams> {
  const findDueTeams = statement(
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
    { prepared: true },
  );
  return async (sql) => {
    const rows = await sql.rows<{ teamId: number | null; untilMs: number | null }>(findDueTeams);
    const teamIds = rows.flatMap(({ teamId }) => teamId ?? []);
    return { teamIds, untilNextMs: rows.find(({ teamId }) => teamId === null)?.untilMs ?? null };
  };
}

/** A node's capacity for items, by team. */
export interface TeamRoom {
  readonly teamId: number;
  readonly most: number;
}

/** The rows that a claim takes: of each team at most its capacity, oldest first. */
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
