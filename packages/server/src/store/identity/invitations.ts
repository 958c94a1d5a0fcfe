import type { Invitation } from "../../domain/identity/team.ts";
import type { Sql } from "../sql.ts";

export interface NewInvitation extends Pick<Invitation, "id" | "email" | "role" | "invitedBy"> {
  /** Of the secret in the mailed link. */
  readonly hash: Buffer;
  readonly validHours: number;
}

const COLUMNS = `id, email, role, invited_by as "invitedBy", created_at as "createdAt", expires_at as "expiresAt"`;

/** At most one per address and team: a new invitation replaces the earlier one with its id and link. */
export async function replaceInvitation(
  sql: Sql,
  teamId: number,
  invitation: NewInvitation,
): Promise<Invitation> {
  const { id, email, role, hash, invitedBy, validHours } = invitation;
  const [row] = await sql.rows<Invitation>(
    `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
     values ($2, $1, $3, $4, $5, $6, now() + make_interval(hours => $7))
     on conflict (team_id, email) do update
        set id = excluded.id, role = excluded.role, hash = excluded.hash, invited_by = excluded.invited_by,
            created_at = excluded.created_at, expires_at = excluded.expires_at
     returning ${COLUMNS}`,
    [teamId, id, email, role, hash, invitedBy, validHours],
  );
  if (row === undefined) throw new Error("An invitation was not stored");
  return row;
}

/** Invitations with a valid link, newest first. */
export async function listOpenInvitations(sql: Sql, teamId: number): Promise<Invitation[]> {
  return sql.rows<Invitation>(
    `select ${COLUMNS} from invitations
      where team_id = $1 and expires_at > now() order by created_at desc, id desc`,
    [teamId],
  );
}

export interface RevokedInvitation extends Pick<Invitation, "id" | "email" | "role"> {
  readonly revokedAt: Date;
}

/** Null if the invitation does not exist or its link is no longer valid. */
export async function deleteInvitation(
  sql: Sql,
  teamId: number,
  id: string,
): Promise<RevokedInvitation | null> {
  const [row] = await sql.rows<RevokedInvitation>(
    `delete from invitations where team_id = $1 and id = $2 and expires_at > now()
     returning id, email, role, now() as "revokedAt"`,
    [teamId, id],
  );
  return row ?? null;
}

/** A removed member must not rejoin by an older link. */
export async function deleteInvitationsTo(sql: Sql, teamId: number, email: string): Promise<void> {
  await sql.rows("delete from invitations where team_id = $1 and email = $2", [teamId, email]);
}

/** The team of an invitation, to be locked before the invitation is taken. */
export async function findInvitationTeam(sql: Sql, hash: Buffer): Promise<number | null> {
  const [row] = await sql.rows<{ teamId: number }>(
    'select team_id as "teamId" from invitations where hash = $1 and expires_at > now()',
    [hash],
  );
  return row?.teamId ?? null;
}

export interface TakenInvitation extends Pick<Invitation, "id" | "email" | "role"> {
  readonly teamId: number;
}

/** Single use, like a sign-in link. */
export async function takeInvitation(sql: Sql, hash: Buffer): Promise<TakenInvitation | null> {
  const [row] = await sql.rows<TakenInvitation>(
    `delete from invitations where hash = $1 and expires_at > now() returning team_id as "teamId", id, email, role`,
    [hash],
  );
  return row ?? null;
}
