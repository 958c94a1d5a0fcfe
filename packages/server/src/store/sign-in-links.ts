import { ROLES, type Role } from "../domain/role.ts";
import type { Sql } from "./sql.ts";

export interface NewSignInLink {
  readonly email: string;
  /** Of the secret in the mailed link. */
  readonly hash: Buffer;
  readonly validMinutes: number;
  /** Where the person goes once signed in. */
  readonly nextPath: string | null;
}

/** At most one per address: the earlier one, used or not, counts no more. */
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

/** Single use: of two that present it at once, the second waits for the first and finds nothing. */
export async function takeSignInLink(sql: Sql, hash: Buffer): Promise<TakenLink | null> {
  const [row] = await sql.rows<{ email: string; next_path: string | null }>(
    "delete from sign_in_links where hash = $1 and expires_at > now() returning email, next_path",
    [hash],
  );
  return row === undefined ? null : { email: row.email, nextPath: row.next_path };
}

/** The team of an invitation, to be locked before the invitation is taken. */
export async function findInvitationTeam(sql: Sql, hash: Buffer): Promise<number | null> {
  const [row] = await sql.rows<{ team_id: number }>(
    "select team_id from invitations where hash = $1 and expires_at > now()",
    [hash],
  );
  return row?.team_id ?? null;
}

export interface TakenInvitation {
  readonly teamId: number;
  readonly id: string;
  readonly email: string;
  readonly role: Role;
}

/** Single use, like a sign-in link. */
export async function takeInvitation(sql: Sql, hash: Buffer): Promise<TakenInvitation | null> {
  const [row] = await sql.rows<{ team_id: number; id: string; email: string; role: Role }>(
    "delete from invitations where hash = $1 and expires_at > now() returning team_id, id, email, role",
    [hash],
  );
  return row === undefined ? null : { teamId: row.team_id, id: row.id, email: row.email, role: row.role };
}

/** Makes the person a member. Whoever is one already keeps the role, unless the new one allows more. */
export async function joinTeam(sql: Sql, teamId: number, userId: string, role: Role): Promise<void> {
  await sql.rows(
    `insert into team_members as m (team_id, user_id, role) values ($1, $2, $3)
     on conflict (team_id, user_id) do update set role = excluded.role
      where array_position($4::text[], excluded.role) < array_position($4::text[], m.role)`,
    [teamId, userId, role, ROLES],
  );
}

/** Whether somebody with this address belongs to any team. */
export async function isAnyonesAddress(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from users u join team_members m on m.user_id = u.id where u.email = $1 limit 1",
    [email],
  );
  return rows.length === 1;
}
