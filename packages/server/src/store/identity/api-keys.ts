import type { ApiKey, RevokedApiKey } from "../../domain/identity/api-key.ts";
import type { Plan } from "../../domain/identity/plan.ts";
import type { OwnLimits } from "../../domain/limits.ts";
import { type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { type Sql, statement } from "../sql.ts";

export interface NewApiKey extends Omit<ApiKey, "createdAt" | "lastUsedAt"> {
  readonly teamId: number;
  readonly hash: Buffer;
}

const INSERT_API_KEY = statement(
  "insert_api_key",
  `insert into api_keys (id, team_id, name, environment, prefix, hash) values ($1, $2, $3, $4, $5, $6)
   on conflict (hash) do nothing returning created_at as "createdAt"`,
);

/** The time of the insert; null if a key with this hash exists. */
export async function insertApiKey(sql: Sql, key: NewApiKey): Promise<Date | null> {
  const [row] = await sql.rows<{ createdAt: Date }>(INSERT_API_KEY, [
    key.id,
    key.teamId,
    key.name,
    key.environment,
    key.prefix,
    key.hash,
  ]);
  return row?.createdAt ?? null;
}

const COUNT_ACTIVE_KEYS = statement(
  "count_active_keys",
  "select count(*)::integer as active from api_keys where team_id = $1 and revoked_at is null",
);

/** The caller locks the team first, in a separate statement, so that this one sees all committed keys. */
export async function countActiveKeys(sql: Sql, teamId: number): Promise<number> {
  const rows = await sql.rows<{ active: number }>(COUNT_ACTIVE_KEYS, [teamId]);
  return rows[0]?.active ?? 0;
}

const HAS_EVER_HAD_OTHER_KEY = statement(
  "has_ever_had_other_key",
  "select 1 from api_keys where team_id = $1 and hash <> $2 limit 1",
);

/** Whether the team ever had another key, including revoked ones. */
export async function hasEverHadOtherKey(sql: Sql, teamId: number, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(HAS_EVER_HAD_OTHER_KEY, [teamId, hash]);
  return rows.length > 0;
}

const LIST_API_KEYS = statement(
  "list_api_keys",
  `select id, name, environment, prefix, created_at as "createdAt", last_used_at as "lastUsedAt" from api_keys
    where team_id = $1 and revoked_at is null
      and ($2::uuid is null
           or (created_at, id) < (select c.created_at, c.id from api_keys c where c.team_id = $1 and c.id = $2))
    order by created_at desc, id desc limit $3`,
);

/** The active keys, newest first. Ids are as stored. */
export async function listApiKeys(
  sql: Sql,
  teamId: number,
  { limit, cursor }: PageRequest = WHOLE_LIST,
): Promise<ApiKey[]> {
  return sql.rows<ApiKey>(LIST_API_KEYS, [teamId, cursor, limit]);
}

const REVOKE_API_KEY = statement(
  "revoke_api_key",
  `update api_keys set revoked_at = now()
    where team_id = $1 and id = $2 and revoked_at is null
   returning id, name, revoked_at as "revokedAt"`,
);

/** Null if the team has no active key with this id. */
export async function revokeApiKey(sql: Sql, teamId: number, id: string): Promise<RevokedApiKey | null> {
  const [row] = await sql.rows<RevokedApiKey>(REVOKE_API_KEY, [teamId, id]);
  return row ?? null;
}

const IS_REVOKED_KEY = statement(
  "is_revoked_key",
  "select 1 from api_keys where team_id = $1 and id = $2 and revoked_at is not null",
);

/** Whether the key belonged to the team and is revoked. */
export async function isRevokedKey(sql: Sql, teamId: number, id: string): Promise<boolean> {
  const rows = await sql.rows(IS_REVOKED_KEY, [teamId, id]);
  return rows.length === 1;
}

/** A key that a start activated or revoked. */
export interface TurnedKey {
  readonly id: string;
  readonly name: string;
  readonly isRevoked: boolean;
}

const ENFORCE_SET_KEY = statement(
  "enforce_set_key",
  `with before as (
     select id, revoked_at from api_keys where team_id = $1 and (hash = $2 or is_setting) for update
   )
   update api_keys k
      set is_setting = true, revoked_at = case when k.hash <> $2 then coalesce(k.revoked_at, now()) end
     from before b where k.id = b.id
   returning k.id, k.name, b.revoked_at is not null as "wasRevoked", k.revoked_at is not null as "isRevoked"`,
);

/** Activates the key that the operator has set, and revokes the previously set one. */
export async function enforceSetKey(sql: Sql, teamId: number, hash: Buffer): Promise<TurnedKey[]> {
  const rows = await sql.rows<TurnedKey & { readonly wasRevoked: boolean }>(ENFORCE_SET_KEY, [teamId, hash]);
  // The activated key first.
  return rows
    .filter((key) => key.isRevoked !== key.wasRevoked)
    .sort((one, other) => Number(one.isRevoked) - Number(other.isRevoked));
}

export interface ActiveKey extends Pick<ApiKey, "id" | "name" | "environment"> {
  readonly teamId: number;
  readonly teamPublicId: string;
  readonly plan: Plan;
  readonly customPerMinute: number | null;
  readonly ownLimits: OwnLimits | null;
}

const FIND_ACTIVE_KEY = statement(
  "find_active_key",
  `with used as (
     update api_keys set last_used_at = now()
      where hash = $1 and revoked_at is null
        and (last_used_at is null or last_used_at < now() - interval '1 minute')
   )
   select k.id, k.team_id as "teamId", t.public_id as "teamPublicId", k.name, k.environment, t.plan,
          t.requests_per_minute as "customPerMinute", t.limits as "ownLimits"
     from api_keys k join teams t on t.id = k.team_id
    where k.hash = $1 and k.revoked_at is null`,
);

/** Finds the key and records its use, at most once a minute, so that a busy key does not cost a write each time. */
export async function findActiveKey(sql: Sql, hash: Buffer): Promise<ActiveKey | null> {
  const [row] = await sql.rows<ActiveKey>(FIND_ACTIVE_KEY, [hash]);
  return row ?? null;
}
