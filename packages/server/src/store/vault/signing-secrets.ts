import type { Sql } from "../sql.ts";

export interface SigningSecret {
  readonly id: string;
  /** As stored: in plain text, or encrypted (see vault/signing-seal.ts). */
  readonly secret: string;
  readonly createdAt: Date;
  /** Null for the current one. */
  readonly validUntil: Date | null;
}

/** The valid secrets, the current one first. */
export async function signingSecrets(sql: Sql, teamId: number): Promise<SigningSecret[]> {
  return sql.rows<SigningSecret>(
    `select id, secret, created_at as "createdAt", valid_until as "validUntil" from signing_secrets
      where team_id = $1 and (valid_until is null or valid_until > now())
      order by valid_until desc nulls first`,
    [teamId],
  );
}

/** Sets the team's secret, unless it has one. */
export async function insertFirstSecret(sql: Sql, teamId: number, id: string, secret: string): Promise<void> {
  await sql.rows(
    `insert into signing_secrets (team_id, id, secret) values ($1, $2, $3)
     on conflict (team_id) where valid_until is null do nothing`,
    [teamId, id, secret],
  );
}

/** The current secret stays valid beside its successor for this long. Must run in one transaction with the insert. */
export async function retireCurrentSecret(sql: Sql, teamId: number, hours: number): Promise<void> {
  await sql.rows(
    `update signing_secrets set valid_until = now() + make_interval(hours => $2)
      where team_id = $1 and valid_until is null`,
    [teamId, hours],
  );
}

export async function removeRetiredSecrets(sql: Sql): Promise<void> {
  await sql.rows("delete from signing_secrets where valid_until < now()");
}

/** The vault keys that stored secrets need. */
export async function secretKeysInUse(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ keyId: string }>(
    `select distinct split_part(secret, ':', 2) as "keyId" from signing_secrets where starts_with(secret, 'sealed:')`,
  );
  return rows.map(({ keyId }) => keyId);
}

/** The position in a scan of all teams' secrets. */
export interface SecretPlace {
  readonly teamId: number;
  readonly id: string;
}

export interface SecretToSeal extends SecretPlace {
  readonly secret: string;
}

/** The next secrets after a position whose stored text does not have this prefix. */
export async function findSecretsUnlike(
  sql: Sql,
  prefix: string,
  after: SecretPlace | null,
  limit: number,
): Promise<SecretToSeal[]> {
  return sql.rows<SecretToSeal>(
    `select team_id as "teamId", id, secret from signing_secrets
      where not starts_with(secret, $1)
        and ($2::integer is null or (team_id, id) > ($2::integer, $3::uuid))
      order by team_id, id limit $4`,
    [prefix, after?.teamId ?? null, after?.id ?? null, limit],
  );
}

/** Replaces a stored secret, unless it has changed meanwhile. Returns whether it changed. */
export async function replaceSecret(sql: Sql, from: SecretToSeal, secret: string): Promise<boolean> {
  const rows = await sql.rows(
    "update signing_secrets set secret = $4 where team_id = $1 and id = $2 and secret = $3 returning id",
    [from.teamId, from.id, from.secret, secret],
  );
  return rows.length === 1;
}
