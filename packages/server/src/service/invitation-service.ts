import type { SendMail } from "../domain/mail.ts";
import type { Actor, Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import type { Role } from "../domain/role.ts";
import { type Invitation, requireRoleToChange } from "../domain/team.ts";
import {
  deleteInvitation,
  listOpenInvitations,
  type RevokedInvitation,
  replaceInvitation,
} from "../store/invitations.ts";
import { isMemberAddress } from "../store/members.ts";
import type { Database, Sql } from "../store/sql.ts";
import { recordChange } from "./audit.ts";
import { limitHits, nameless } from "./hit-limit.ts";
import { composeInvitation } from "./invitation-mail.ts";
import { formatId, newUuid } from "./public-id.ts";
import { hashSecret, newSecret } from "./secret-hash.ts";
import { lockStanding } from "./standing.ts";

/** A week: long enough for a holiday, too short to be found in an old mailbox. */
const VALID_HOURS = 7 * 24;
/** A team that grows fast; nobody who sends advertisements. */
const MAILS_BY_TEAM = { most: 20, seconds: 3600 };
/** Over all teams: whoever opens several must not fill a stranger's mailbox from each. */
const MAILS_TO_ADDRESS = { most: 5, seconds: 900 };

export interface InvitationService {
  /** Mails a link to join the team. An earlier one to the same address stops working. */
  create(actor: Actor, email: string, role: Role): Promise<Invitation>;
  list(principal: Principal): Promise<readonly Invitation[]>;
  revoke(actor: Actor, id: string): Promise<RevokedInvitation>;
}

export function createInvitationService(deps: {
  readonly database: Database;
  readonly sendMail: SendMail;
  readonly publicUrl: () => string;
}): InvitationService {
  const { database } = deps;

  return {
    async create(actor, email, role) {
      const { teamId } = actor;
      const secret = newSecret();
      const { team, invitation } = await database.transaction(async (sql) => {
        const standing = await lockStanding(sql, actor);
        requireRoleToChange(standing.role, { from: null, to: role });
        if (await isMemberAddress(sql, teamId, email)) throw new Problem("member_exists", { email });
        await countMail(sql, teamId, email);
        const stored = await replaceInvitation(sql, teamId, {
          id: newUuid(),
          email,
          role,
          hash: hashSecret(secret),
          invitedBy: actor.name,
          validHours: VALID_HOURS,
        });
        await recordChange(sql, actor, {
          action: "member.invited",
          target: formatId("inv", stored.id),
          detail: { email, role },
        });
        return { team: standing.team, invitation: stored };
      });
      // Only now: a link that was never stored must not be in anybody's mailbox.
      const link = `${deps.publicUrl()}/sign-in/link?token=${secret}`;
      deps.sendMail(composeInvitation(actor, team, invitation, link));
      return invitation;
    },
    list: ({ teamId }) => listOpenInvitations(database, teamId),
    revoke: (actor, id) =>
      database.transaction(async (sql) => {
        const revoked = await deleteInvitation(sql, actor.teamId, id);
        if (revoked === null) throw new Problem("invitation_not_found");
        const { email, role } = revoked;
        await recordChange(sql, actor, {
          action: "invitation.revoked",
          target: formatId("inv", id),
          detail: { email, role },
        });
        return revoked;
      }),
  };
}

/** In the transaction: a refused invitation counts for nothing. */
async function countMail(sql: Sql, teamId: number, email: string): Promise<void> {
  await limitHits(sql, `invitation by ${teamId}`, MAILS_BY_TEAM);
  await limitHits(sql, `invitation to ${nameless(email)}`, MAILS_TO_ADDRESS);
}
