import type { Role } from "../../domain/identity/role.ts";
import type { Invitation } from "../../domain/identity/team.ts";
import type { Sql } from "../sql.ts";

export interface NewInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** Of the secret in the mailed link. */
  readonly hash: Buffer;
  readonly invitedBy: string;
  readonly validHours: number;
}

interface InvitationRow {
  id: string;
  email: string;
  role: Role;
  invited_by: string;
  created_at: Date;
  expires_at: Date;
}

const COLUMNS = "i.id, i.email, i.role, i.invited_by, i.created_at, i.expires_at";

/** At most one per address and team: the earlier one goes, id, link and all. */
export async function replaceInvitation(
  sql: Sql,
  teamId: number,
  invitation: NewInvitation,
): Promise<Invitation> {
  const { id, email, role, hash, invitedBy, validHours } = invitation;
  const rows = await sql.rows<InvitationRow>(
    `insert into invitations as i (id, team_id, email, role, hash, invited_by, expires_at)
     values ($2, $1, $3, $4, $5, $6, now() + make_interval(hours => $7))
     on conflict (team_id, email) do update
        set id = excluded.id, role = excluded.role, hash = excluded.hash, invited_by = excluded.invited_by,
            created_at = excluded.created_at, expires_at = excluded.expires_at
     returning ${COLUMNS}`,
    [teamId, id, email, role, hash, invitedBy, validHours],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("An invitation was not stored");
  return toInvitation(row);
}

/** Those whose link still works, newest first. */
export async function listOpenInvitations(sql: Sql, teamId: number): Promise<Invitation[]> {
  const rows = await sql.rows<InvitationRow>(
    `select ${COLUMNS} from invitations i
      where i.team_id = $1 and i.expires_at > now() order by i.created_at desc, i.id desc`,
    [teamId],
  );
  return rows.map(toInvitation);
}

export interface RevokedInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly revokedAt: Date;
}

/** Null if there is none, or its link no longer worked. */
export async function deleteInvitation(
  sql: Sql,
  teamId: number,
  id: string,
): Promise<RevokedInvitation | null> {
  const rows = await sql.rows<{ id: string; email: string; role: Role; revoked_at: Date }>(
    `delete from invitations where team_id = $1 and id = $2 and expires_at > now()
     returning id, email, role, now() as revoked_at`,
    [teamId, id],
  );
  const [row] = rows;
  return row === undefined
    ? null
    : { id: row.id, email: row.email, role: row.role, revokedAt: row.revoked_at };
}

/** Whoever was removed must not come back by an older link. */
export async function deleteInvitationsTo(sql: Sql, teamId: number, email: string): Promise<void> {
  await sql.rows("delete from invitations where team_id = $1 and email = $2", [teamId, email]);
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

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
