import type { Invitation } from "../../domain/identity/team.ts";
import { offsetOf, type PageRequest } from "../../domain/page.ts";
import { type Sql, statement } from "../sql.ts";

export interface NewInvitation extends Pick<Invitation, "id" | "email" | "role" | "invitedBy"> {
  /** Of the secret in the mailed link. */
  readonly hash: Buffer;
  readonly validHours: number;
}

const COLUMNS = `id, email, role, invited_by as "invitedBy", created_at as "createdAt", expires_at as "expiresAt"`;

const REPLACE_INVITATION = statement(
  "replace_invitation",
  `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
   values ($2, $1, $3, $4, $5, $6, now() + make_interval(hours => $7))
   on conflict (team_id, email) do update
      set id = excluded.id, role = excluded.role, hash = excluded.hash, invited_by = excluded.invited_by,
          created_at = excluded.created_at, expires_at = excluded.expires_at
   returning ${COLUMNS}`,
);

/** At most one per address and team: a new invitation replaces the earlier one with its id and link. */
export async function replaceInvitation(
  sql: Sql,
  teamId: number,
  invitation: NewInvitation,
): Promise<Invitation> {
  const { id, email, role, hash, invitedBy, validHours } = invitation;
  const [row] = await sql.rows<Invitation>(REPLACE_INVITATION, [
    teamId,
    id,
    email,
    role,
    hash,
    invitedBy,
    validHours,
  ]);
  if (row === undefined) throw new Error("An invitation was not stored");
  return row;
}

const LIST_OPEN_INVITATIONS = statement(
  "list_open_invitations",
  `select ${COLUMNS} from invitations
    where team_id = $1 and expires_at > now() order by created_at desc, id desc limit $2 offset $3`,
);

/** Invitations with a valid link, newest first; one more than the page has shows whether there is a next one. */
export async function listOpenInvitations(
  sql: Sql,
  teamId: number,
  page: PageRequest,
): Promise<Invitation[]> {
  return sql.rows<Invitation>(LIST_OPEN_INVITATIONS, [teamId, page.limit + 1, offsetOf(page)]);
}

export interface RevokedInvitation extends Pick<Invitation, "id" | "email" | "role"> {
  readonly revokedAt: Date;
}

const DELETE_INVITATION = statement(
  "delete_invitation",
  `delete from invitations where team_id = $1 and id = $2 and expires_at > now()
   returning id, email, role, now() as "revokedAt"`,
);

/** Null if the invitation does not exist or its link is no longer valid. */
export async function deleteInvitation(
  sql: Sql,
  teamId: number,
  id: string,
): Promise<RevokedInvitation | null> {
  const [row] = await sql.rows<RevokedInvitation>(DELETE_INVITATION, [teamId, id]);
  return row ?? null;
}

const DELETE_INVITATIONS_TO = statement(
  "delete_invitations_to",
  "delete from invitations where team_id = $1 and email = $2",
);

/** A removed member must not rejoin by an older link. */
export async function deleteInvitationsTo(sql: Sql, teamId: number, email: string): Promise<void> {
  await sql.rows(DELETE_INVITATIONS_TO, [teamId, email]);
}

const FIND_INVITATION_TEAM = statement(
  "find_invitation_team",
  'select team_id as "teamId" from invitations where hash = $1 and expires_at > now()',
);

/** The team of an invitation, to be locked before the invitation is taken. */
export async function findInvitationTeam(sql: Sql, hash: Buffer): Promise<number | null> {
  const [row] = await sql.rows<{ teamId: number }>(FIND_INVITATION_TEAM, [hash]);
  return row?.teamId ?? null;
}

export interface TakenInvitation extends Pick<Invitation, "id" | "email" | "role"> {
  readonly teamId: number;
}

const TAKE_INVITATION = statement(
  "take_invitation",
  `delete from invitations where hash = $1 and expires_at > now() returning team_id as "teamId", id, email, role`,
);

/** Single use, like a sign-in link. */
export async function takeInvitation(sql: Sql, hash: Buffer): Promise<TakenInvitation | null> {
  const [row] = await sql.rows<TakenInvitation>(TAKE_INVITATION, [hash]);
  return row ?? null;
}
