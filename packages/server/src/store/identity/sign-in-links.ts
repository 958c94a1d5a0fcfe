import { type Sql, statement } from "../sql.ts";

export interface NewSignInLink {
  readonly email: string;
  /** Of the secret in the mailed link. */
  readonly hash: Buffer;
  readonly validMinutes: number;
  /** The page to open after the sign-in. */
  readonly nextPath: string | null;
}

const REPLACE_SIGN_IN_LINK = statement(
  "replace_sign_in_link",
  `insert into sign_in_links (email, hash, next_path, expires_at)
   values ($1, $2, $3, now() + make_interval(mins => $4))
   on conflict (email) do update
      set hash = excluded.hash, next_path = excluded.next_path, created_at = excluded.created_at,
          expires_at = excluded.expires_at`,
);

/** At most one per address: a new link invalidates the earlier one. */
export async function replaceSignInLink(sql: Sql, link: NewSignInLink): Promise<void> {
  await sql.rows(REPLACE_SIGN_IN_LINK, [link.email, link.hash, link.nextPath, link.validMinutes]);
}

export interface TakenLink {
  readonly email: string;
  readonly nextPath: string | null;
}

const IS_LINK_OPEN = statement(
  "is_link_open",
  `select 1 from sign_in_links where hash = $1 and expires_at > now()
   union all
   select 1 from invitations where hash = $1 and expires_at > now()`,
);

/** Whether a mailed link, of a sign-in or an invitation, is valid now. Does not use it up. */
export async function isLinkOpen(sql: Sql, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(IS_LINK_OPEN, [hash]);
  return rows.length > 0;
}

const TAKE_SIGN_IN_LINK = statement(
  "take_sign_in_link",
  `delete from sign_in_links where hash = $1 and expires_at > now() returning email, next_path as "nextPath"`,
);

/** Single use: of two concurrent requests, the second waits for the first and finds nothing. */
export async function takeSignInLink(sql: Sql, hash: Buffer): Promise<TakenLink | null> {
  const [row] = await sql.rows<TakenLink>(TAKE_SIGN_IN_LINK, [hash]);
  return row ?? null;
}
