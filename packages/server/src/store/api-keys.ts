import type { Plan } from "../domain/plan.ts";
import type { Principal } from "../domain/principal.ts";
import type { Sql } from "./sql.ts";

export interface NewApiKey {
  readonly id: string;
  readonly teamId: number;
  readonly name: string;
  readonly environment: Principal["environment"];
  /** What is left readable of the key, to tell it from others. */
  readonly prefix: string;
  readonly hash: Buffer;
}

/** False when a key with this hash is stored already. */
export async function insertApiKey(sql: Sql, key: NewApiKey): Promise<boolean> {
  const rows = await sql.rows(
    `insert into api_keys (id, team_id, name, environment, prefix, hash) values ($1, $2, $3, $4, $5, $6)
     on conflict (hash) do nothing returning id`,
    [key.id, key.teamId, key.name, key.environment, key.prefix, key.hash],
  );
  return rows.length === 1;
}

/** Revokes the keys of this name but the one with this hash: setting another key takes the old one out of use. */
export async function revokeOtherKeys(sql: Sql, teamId: number, name: string, hash: Buffer): Promise<void> {
  await sql.rows(
    "update api_keys set revoked_at = now() where team_id = $1 and name = $2 and hash <> $3 and revoked_at is null",
    [teamId, name, hash],
  );
}

export async function restoreKey(sql: Sql, hash: Buffer): Promise<void> {
  await sql.rows("update api_keys set revoked_at = null where hash = $1 and revoked_at is not null", [hash]);
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
