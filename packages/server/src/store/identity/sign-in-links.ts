import type { Sql } from "../sql.ts";

export interface NewSignInLink {
  readonly email: string;
  /** Of the secret in the mailed link. */
  readonly hash: Buffer;
  readonly validMinutes: number;
  /** The page to open after the sign-in. */
  readonly nextPath: string | null;
}

/** At most one per address: a new link invalidates the earlier one. */
export async function replaceSignInLink(sql: Sql, link: NewSignInLink): Promise<void> {
  await sql.rows(
    `insert into sign_in_links (email, hash, next_path, expires_at)
     values ($1, $2, $3, now() + make_interval(mins => $4))
     on conflict (email) do update
        set hash = excluded.hash, next_path = excluded.next_path, created_at = excluded.created_at,
            expires_at = excluded.expires_at`,
    [link.email, link.hash, link.nextPath, link.validMinutes],
  );
}

export interface TakenLink {
  readonly email: string;
  readonly nextPath: string | null;
}

/** Whether a mailed link, of a sign-in or an invitation, is valid now. Does not use it up. */
export async function isLinkOpen(sql: Sql, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(
    `select 1 from sign_in_links where hash = $1 and expires_at > now()
     union all
     select 1 from invitations where hash = $1 and expires_at > now()`,
    [hash],
  );
  return rows.length > 0;
}

/** Single use: of two concurrent requests, the second waits for the first and finds nothing. */
export async function takeSignInLink(sql: Sql, hash: Buffer): Promise<TakenLink | null> {
  const [row] = await sql.rows<TakenLink>(
    `delete from sign_in_links where hash = $1 and expires_at > now() returning email, next_path as "nextPath"`,
    [hash],
  );
  return row ?? null;
}
