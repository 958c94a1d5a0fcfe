import type { Plan } from "../../domain/identity/plan.ts";
import type { OwnLimits } from "../../domain/limits.ts";
import { type Sql, statement } from "../sql.ts";

/**
 * The operator's view over all teams. No endpoint of the API may use these queries: they are the only ones without a
 * team.
 */
export interface DirectoryEntry {
  readonly teamId: number;
  readonly publicId: string;
  readonly name: string;
  readonly plan: Plan;
  /** Only an enterprise team has one. */
  readonly customPerMinute: number | null;
  /** Limits of this team that replace those of its plan. */
  readonly ownLimits: OwnLimits | null;
  readonly members: number;
  readonly activeKeys: number;
  readonly createdAt: Date;
}

/** Oldest first, so the operator's own team is first. */
export async function listDirectory(sql: Sql): Promise<DirectoryEntry[]> {
  return entries(sql, "true", []);
}

export async function findInDirectory(sql: Sql, publicId: string): Promise<DirectoryEntry | null> {
  return (await entries(sql, "t.public_id = $1", [publicId]))[0] ?? null;
}

/** Several teams may have the same name. */
export async function findNamedInDirectory(sql: Sql, name: string): Promise<DirectoryEntry[]> {
  return entries(sql, "t.name = $1", [name]);
}

async function entries(sql: Sql, where: string, values: readonly unknown[]): Promise<DirectoryEntry[]> {
  return sql.rows<DirectoryEntry>(
    statement(
      "list_directory",
      `select t.id as "teamId", t.public_id as "publicId", t.name, t.plan, t.requests_per_minute as "customPerMinute",
            t.limits as "ownLimits", t.created_at as "createdAt",
            (select count(*)::integer from team_members m where m.team_id = t.id) as members,
            (select count(*)::integer from api_keys k where k.team_id = t.id and k.revoked_at is null) as "activeKeys"
       from teams t where ${where} order by t.id`,
    ),
    values,
  );
}

const LIST_TEAM_NAMES = statement("list_team_names", "select distinct name from teams");

export async function listTeamNames(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ name: string }>(LIST_TEAM_NAMES);
  return rows.map(({ name }) => name);
}

const UPDATE_PLAN = statement(
  "update_plan",
  "update teams set plan = $2, requests_per_minute = $3, limits = $4::jsonb where id = $1",
);

export async function updatePlan(
  sql: Sql,
  teamId: number,
  plan: Plan,
  customPerMinute: number | null,
  ownLimits: OwnLimits | null,
): Promise<void> {
  await sql.rows(UPDATE_PLAN, [
    teamId,
    plan,
    customPerMinute,
    ownLimits === null ? null : JSON.stringify(ownLimits),
  ]);
}

export interface KeyOwner {
  readonly teamId: number;
  /** Its name. */
  readonly team: string;
}

const FIND_TEAM_OF_KEY = statement(
  "find_team_of_key",
  `select t.id as "teamId", t.name as team from api_keys k join teams t on t.id = k.team_id where k.id = $1`,
);

/** The team of this key; null if the key does not exist. */
export async function findTeamOfKey(sql: Sql, keyId: string): Promise<KeyOwner | null> {
  const [row] = await sql.rows<KeyOwner>(FIND_TEAM_OF_KEY, [keyId]);
  return row ?? null;
}
