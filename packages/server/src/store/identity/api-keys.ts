import type { Plan } from "../../domain/identity/plan.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import type { Sql } from "../sql.ts";

export interface NewApiKey {
  readonly id: string;
  readonly teamId: number;
  readonly name: string;
  readonly environment: Principal["environment"];
  /** What is left readable of the key, to tell it from others. */
  readonly prefix: string;
  readonly hash: Buffer;
}

/** When it was stored; null when a key with this hash is stored already. */
export async function insertApiKey(sql: Sql, key: NewApiKey): Promise<Date | null> {
  const rows = await sql.rows<{ created_at: Date }>(
    `insert into api_keys (id, team_id, name, environment, prefix, hash) values ($1, $2, $3, $4, $5, $6)
     on conflict (hash) do nothing returning created_at`,
    [key.id, key.teamId, key.name, key.environment, key.prefix, key.hash],
  );
  return rows[0]?.created_at ?? null;
}

/** Lock the team first, in a statement of its own: this one must see what others have just committed. */
export async function countActiveKeys(sql: Sql, teamId: number): Promise<number> {
  const rows = await sql.rows<{ active: number }>(
    "select count(*)::integer as active from api_keys where team_id = $1 and revoked_at is null",
    [teamId],
  );
  return rows[0]?.active ?? 0;
}

/** Revoked ones count too. */
export async function hasEverHadKey(sql: Sql, teamId: number): Promise<boolean> {
  return (await sql.rows("select 1 from api_keys where team_id = $1 limit 1", [teamId])).length > 0;
}

export interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly environment: Principal["environment"];
  readonly prefix: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

/** The active ones, newest first. */
export async function listApiKeys(sql: Sql, teamId: number): Promise<ListedKey[]> {
  return sql.rows<ListedKey>(
    `select id, name, environment, prefix, created_at, last_used_at from api_keys
      where team_id = $1 and revoked_at is null
      order by created_at desc, id desc`,
    [teamId],
  );
}

/** Null when the team has no active key of this id. */
export async function revokeApiKey(
  sql: Sql,
  teamId: number,
  id: string,
): Promise<{ name: string; revoked_at: Date } | null> {
  const rows = await sql.rows<{ name: string; revoked_at: Date }>(
    `update api_keys set revoked_at = now()
      where team_id = $1 and id = $2 and revoked_at is null
     returning name, revoked_at`,
    [teamId, id],
  );
  return rows[0] ?? null;
}

/** Whether it was one of the team's and is none any more. */
export async function isRevokedKey(sql: Sql, teamId: number, id: string): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from api_keys where team_id = $1 and id = $2 and revoked_at is not null",
    [teamId, id],
  );
  return rows.length === 1;
}

/** A key that a start has put in force again, or taken out of use. */
export interface TurnedKey {
  readonly id: string;
  readonly name: string;
  readonly is_revoked: boolean;
}

/** Puts the key that the operator has set in force, and takes the one that was set before out of use. */
export async function enforceSetKey(sql: Sql, teamId: number, hash: Buffer): Promise<TurnedKey[]> {
  const rows = await sql.rows<TurnedKey & { was_revoked: boolean }>(
    `with before as (
       select id, revoked_at from api_keys where team_id = $1 and (hash = $2 or is_setting) for update
     )
     update api_keys k
        set is_setting = true, revoked_at = case when k.hash <> $2 then coalesce(k.revoked_at, now()) end
       from before b where k.id = b.id
     returning k.id, k.name, b.revoked_at is not null as was_revoked, k.revoked_at is not null as is_revoked`,
    [teamId, hash],
  );
  // The one that counts first, as one would tell it.
  return rows
    .filter((key) => key.is_revoked !== key.was_revoked)
    .sort((one, other) => Number(one.is_revoked) - Number(other.is_revoked));
}

export interface ActiveKey {
  readonly id: string;
  readonly teamId: number;
  readonly name: string;
  readonly environment: Principal["environment"];
  readonly plan: Plan;
  readonly customPerMinute: number | null;
}

interface ActiveKeyRow {
  id: string;
  team_id: number;
  name: string;
  environment: Principal["environment"];
  plan: Plan;
  requests_per_minute: number | null;
}

/** Finds the key, and notes that it was used: to the minute, so that a busy key does not cost a write each time. */
export async function findActiveKey(sql: Sql, hash: Buffer): Promise<ActiveKey | null> {
  const rows = await sql.rows<ActiveKeyRow>(
    `with used as (
       update api_keys set last_used_at = now()
        where hash = $1 and revoked_at is null
          and (last_used_at is null or last_used_at < now() - interval '1 minute')
     )
     select k.id, k.team_id, k.name, k.environment, t.plan, t.requests_per_minute
       from api_keys k join teams t on t.id = k.team_id
      where k.hash = $1 and k.revoked_at is null`,
    [hash],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { id, team_id: teamId, name, environment, plan, requests_per_minute: customPerMinute } = row;
  return { id, teamId, name, environment, plan, customPerMinute };
}
