import type { SendMail } from "../../domain/identity/mail.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Role } from "../../domain/identity/role.ts";
import { type Invitation, requireRoleToChange } from "../../domain/identity/team.ts";
import { cutPageAtOffset, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import {
  deleteInvitation,
  listOpenInvitations,
  type RevokedInvitation,
  replaceInvitation,
} from "../../store/identity/invitations.ts";
import { isMemberAddress } from "../../store/identity/members.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { lockCurrentRole } from "../access/current-role.ts";
import { hashAddress, limitHits } from "../access/hit-limit.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import { recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import { composeInvitationMail } from "./mails.ts";

/** A week: long enough for a holiday, too short to be found in an old mailbox. */
const VALID_HOURS = 7 * 24;
/** Enough for a team that grows fast, too few to send advertisements. */
const MAILS_BY_TEAM = { most: 20, seconds: 3600 };
/** Over all teams: a person with several teams must not flood a mailbox from each. */
const MAILS_TO_ADDRESS = { most: 5, seconds: 900 };

export interface InvitationService {
  /** Mails a link to join the team. Invalidates an earlier one to the same address. */
  create(requester: Requester, email: string, role: Role): Promise<Invitation>;
  list(principal: Principal, page?: PageRequest): Promise<Page<Invitation>>;
  revoke(requester: Requester, id: string): Promise<RevokedInvitation>;
}

export function createInvitationService(deps: {
  readonly database: Database;
  readonly sendMail: SendMail;
  readonly publicUrl: () => string;
}): InvitationService {
  const { database } = deps;

  return {
    async create(requester, email, role) {
      const { teamId } = requester;
      const secret = newSecret();
      const { team, invitation } = await database.transaction(async (sql) => {
        const current = await lockCurrentRole(sql, requester);
        requireRoleToChange(current.role, { from: null, to: role });
        if (await isMemberAddress(sql, teamId, email)) throw new Problem("member_exists", { email });
        await countMail(sql, teamId, email);
        const stored = await replaceInvitation(sql, teamId, {
          id: newUuid(),
          email,
          role,
          hash: hashSecret(secret),
          invitedBy: requester.name,
          validHours: VALID_HOURS,
        });
        await recordChange(sql, requester, {
          action: "member.invited",
          target: formatId("inv", stored.id),
          detail: { email, role },
        });
        return { team: current.team, invitation: stored };
      });
      // Only now: a link that is not stored must not be mailed.
      const link = `${deps.publicUrl()}/sign-in/link?token=${secret}`;
      deps.sendMail(composeInvitationMail(requester, team, invitation, link));
      return invitation;
    },
    list: async ({ teamId }, page = WHOLE_LIST) =>
      cutPageAtOffset(await listOpenInvitations(database, teamId, page), page),
    revoke: (requester, id) =>
      database.transaction(async (sql) => {
        const revoked = await deleteInvitation(sql, requester.teamId, id);
        if (revoked === null) throw new Problem("invitation_not_found");
        const { email, role } = revoked;
        await recordChange(sql, requester, {
          action: "invitation.revoked",
          target: formatId("inv", id),
          detail: { email, role },
        });
        return revoked;
      }),
  };
}

/** In the transaction: a refused invitation does not count. */
async function countMail(sql: Sql, teamId: number, email: string): Promise<void> {
  await limitHits(sql, `invitation by ${teamId}`, MAILS_BY_TEAM);
  await limitHits(sql, `invitation to ${hashAddress(email)}`, MAILS_TO_ADDRESS);
}
