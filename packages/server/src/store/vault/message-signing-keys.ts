import { type Sql, statement } from "../sql.ts";

export interface MessageSigningKey {
  readonly id: string;
  readonly place: "current" | "next";
  /** As stored: in plain text, or encrypted (see vault/signing-seal.ts). */
  readonly secret: string;
}

const MESSAGE_SIGNING_KEYS = statement(
  "message_signing_keys",
  "select id, place, secret from message_signing_keys where team_id = $1 order by place",
);

/** The current one, then the next; empty before the first use. */
export function messageSigningKeys(sql: Sql, teamId: number): Promise<MessageSigningKey[]> {
  return sql.rows<MessageSigningKey>(MESSAGE_SIGNING_KEYS, [teamId]);
}

const INSERT_MESSAGE_SIGNING_KEY = statement(
  "insert_message_signing_key",
  `insert into message_signing_keys (team_id, id, place, secret) values ($1, $2, $3, $4)
   on conflict (team_id, place) do nothing`,
);

/** Sets the key, unless the team has one in this place. */
export async function insertMessageSigningKey(
  sql: Sql,
  teamId: number,
  { id, place, secret }: MessageSigningKey,
): Promise<void> {
  await sql.rows(INSERT_MESSAGE_SIGNING_KEY, [teamId, id, place, secret]);
}

const LOCK_KEYS_OF_TEAM = statement(
  "lock_keys_of_team",
  "select 1 from teams where id = $1 for no key update",
);

/** Other rotations wait until the transaction ends. The rows of the keys cannot carry this lock, because a rotation replaces them. */
export async function lockKeysOfTeam(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(LOCK_KEYS_OF_TEAM, [teamId]);
}

const REMOVE_CURRENT_KEY = statement(
  "remove_current_message_key",
  "delete from message_signing_keys where team_id = $1 and place = 'current'",
);
const PROMOTE_NEXT_KEY = statement(
  "promote_next_message_key",
  "update message_signing_keys set place = 'current' where team_id = $1 and place = 'next'",
);

/** The next key becomes the current one. Must run in one transaction with the insert of the new next one. */
export async function advanceMessageSigningKeys(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(REMOVE_CURRENT_KEY, [teamId]);
  await sql.rows(PROMOTE_NEXT_KEY, [teamId]);
}
