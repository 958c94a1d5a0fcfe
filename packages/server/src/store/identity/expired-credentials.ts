import { type Sql, type Statement, statement } from "../sql.ts";

/**
 * Every lookup refuses an expired row; this only frees space. Rows of applications stay another day, so that a code or
 * refresh token that is used twice is still recognised. Expired rate limit hits are deleted too.
 */
const EXPIRED = [
  expired("invitations", "id", "expires_at < now()"),
  expired("sign_in_links", "email", "expires_at < now()"),
  expired("sessions", "hash", "expires_at < now()"),
  expired("source_hits", "source", "expires_at < now()"),
  expired("oauth_tokens", "id", "greatest(access_expires_at, refresh_expires_at) < now() - interval '1 day'"),
  // The record of a replayed code invalidates its tokens, so it is deleted after the last of them.
  expired(
    "oauth_codes",
    "hash",
    `expires_at < now() - interval '1 day' and (replayed_at is null
       or not exists (select 1 from oauth_tokens t where t.code_hash = oauth_codes.hash))`,
  ),
];

/** A row that another transaction has locked is left for the next round: no request waits for this. */
function expired(table: string, key: string, condition: string): Statement {
  return statement(
    `remove_expired_${table}`,
    `with old as (select ${key} from ${table} where ${condition} limit $1 for update skip locked)
    delete from ${table} t using old where t.${key} = old.${key} returning 1 as removed`,
  );
}

/** At most `batch` of each kind. Returns how many were removed. */
export async function removeExpiredCredentials(sql: Sql, batch: number): Promise<number> {
  let removed = 0;
  for (const removal of EXPIRED) removed += (await sql.rows(removal, [batch])).length;
  return removed;
}
