import { invalid, mustBe } from "../../domain/complaint.ts";
import { readEmail } from "../../domain/identity/email.ts";
import type { Invitation } from "../../domain/identity/team.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import type { InvitationService } from "../../service/people/invitation-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { blankComplaints } from "../http/label.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import * as record from "../schemas/invitation.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";

const tags = ["Teams"];

export function registerInvitationRoutes(app: Api, invitations: InvitationService): void {
  app.post(
    "/team/invitations",
    {
      preValidation: async ({ body }) => {
        const complaints = blankComplaints(body, "email");
        if (complaints.length > 0) throw invalid(complaints);
      },
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "createInvitation",
        tags,
        summary: "Invite a person to the team",
        description:
          "Mails a link that works once, for 7 days. Inviting the same address again replaces the earlier invitation: " +
          "its link stops working. At most 20 an hour from a team, and 5 in 15 minutes to an address.",
        body: ref(record.CreateInvitation),
        response: {
          201: ref(record.InvitationAnswer),
          ...refusals("member_exists", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { email, role = "member" } = request.body;
      const address = readEmail(email);
      if (address === null) throw invalid([mustBe("email", "a valid mail address")]);
      const invitation = await invitations.create(requesterOf(request), address, role);
      reply.code(201);
      return { invitation: invitationView(invitation) };
    },
  );

  app.get(
    "/team/invitations",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("team:read", "admin"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listInvitations",
        tags,
        summary: "List the open invitations",
        description: "Invitations that are not accepted, revoked or expired.",
        querystring: PageQuery,
        response: { 200: ref(record.InvitationList), ...refusals() },
      },
    },
    async (request) => {
      const page = fitPage(
        await invitations.list(callerOf(request), readPage(request.query)),
        invitationView,
      );
      return { invitations: page.items, ...showPage(page, request.query) };
    },
  );

  app.delete(
    "/team/invitations/:invitation_id",
    {
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "revokeInvitation",
        tags,
        summary: "Revoke an invitation",
        description: "Its link stops working.",
        params: record.InvitationPath,
        response: { 200: ref(record.RevokedInvitation), ...refusals("invitation_not_found") },
      },
    },
    async (request) => {
      const id = parseId("inv", request.params.invitation_id);
      if (id === null) throw new Problem("invitation_not_found");
      const { email, revokedAt } = await invitations.revoke(requesterOf(request), id);
      return { invitation: { id: formatId("inv", id), email, revokedAt: revokedAt.toISOString() } };
    },
  );
}

function invitationView(invitation: Invitation): record.Invitation {
  const { id, email, role, invitedBy, createdAt, expiresAt } = invitation;
  return {
    id: formatId("inv", id),
    email,
    role,
    invitedBy,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
