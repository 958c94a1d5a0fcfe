import { type Sql, statement } from "../sql.ts";

export interface SigningSecret {
  readonly id: string;
  /** As stored: in plain text, or encrypted (see vault/signing-seal.ts). */
  readonly secret: string;
  readonly createdAt: Date;
  /** Null for the current one. */
  readonly validUntil: Date | null;
}

const SIGNING_SECRETS = statement(
  "signing_secrets",
  `select id, secret, created_at as "createdAt", valid_until as "validUntil" from signing_secrets
    where team_id = $1 and (valid_until is null or valid_until > now())
    order by valid_until desc nulls first`,
);

/** The valid secrets, the current one first. */
export async function signingSecrets(sql: Sql, teamId: number): Promise<SigningSecret[]> {
  return sql.rows<SigningSecret>(SIGNING_SECRETS, [teamId]);
}

const INSERT_FIRST_SECRET = statement(
  "insert_first_secret",
  `insert into signing_secrets (team_id, id, secret) values ($1, $2, $3)
   on conflict (team_id) where valid_until is null do nothing`,
);

/** Sets the team's secret, unless it has one. */
export async function insertFirstSecret(sql: Sql, teamId: number, id: string, secret: string): Promise<void> {
  await sql.rows(INSERT_FIRST_SECRET, [teamId, id, secret]);
}

const RETIRE_CURRENT_SECRET = statement(
  "retire_current_secret",
  `update signing_secrets set valid_until = now() + make_interval(hours => $2)
    where team_id = $1 and valid_until is null`,
);

/** The current secret stays valid beside its successor for this long. Must run in one transaction with the insert. */
export async function retireCurrentSecret(sql: Sql, teamId: number, hours: number): Promise<void> {
  await sql.rows(RETIRE_CURRENT_SECRET, [teamId, hours]);
}

const REMOVE_RETIRED_SECRETS = statement(
  "remove_retired_secrets",
  "delete from signing_secrets where valid_until < now()",
);

export async function removeRetiredSecrets(sql: Sql): Promise<void> {
  await sql.rows(REMOVE_RETIRED_SECRETS);
}

/** The secrets of webhooks and the keys of messages: sealed, rotated and looked after alike. */
const ALL_SECRETS = `(select team_id, id, secret from signing_secrets
                       union all select team_id, id, secret from message_signing_keys) s`;

const SECRET_KEYS_IN_USE = statement(
  "secret_keys_in_use",
  `select distinct split_part(secret, ':', 2) as "keyId" from ${ALL_SECRETS} where starts_with(secret, 'sealed:')`,
);

/** The vault keys that stored secrets need. */
export async function secretKeysInUse(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ keyId: string }>(SECRET_KEYS_IN_USE);
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

const FIND_SECRETS_UNLIKE = statement(
  "find_secrets_unlike",
  `select team_id as "teamId", id, secret from ${ALL_SECRETS}
    where not starts_with(secret, $1)
      and ($2::integer is null or (team_id, id) > ($2::integer, $3::uuid))
    order by team_id, id limit $4`,
);

/** The next secrets after a position whose stored text does not have this prefix. */
export async function findSecretsUnlike(
  sql: Sql,
  prefix: string,
  after: SecretPlace | null,
  limit: number,
): Promise<SecretToSeal[]> {
  return sql.rows<SecretToSeal>(FIND_SECRETS_UNLIKE, [
    prefix,
    after?.teamId ?? null,
    after?.id ?? null,
    limit,
  ]);
}

const REPLACE_SIGNING_SECRET = statement(
  "replace_signing_secret",
  `with of_messages as (
     update message_signing_keys set secret = $4 where team_id = $1 and id = $2 and secret = $3 returning id
   ), of_webhooks as (
     update signing_secrets set secret = $4 where team_id = $1 and id = $2 and secret = $3 returning id
   )
   select id from of_messages union all select id from of_webhooks`,
);

/** Replaces a stored secret, unless it has changed meanwhile. Returns whether it changed. */
export async function replaceSecret(sql: Sql, from: SecretToSeal, secret: string): Promise<boolean> {
  const rows = await sql.rows(REPLACE_SIGNING_SECRET, [from.teamId, from.id, from.secret, secret]);
  return rows.length === 1;
}
