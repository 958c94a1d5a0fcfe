import type { Member } from "../../domain/identity/team.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import type { MemberService, RemovedMember } from "../../service/people/member-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import * as record from "../schemas/member.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";

const tags = ["Teams"];
const REMOVAL = "The person's sessions in the team end, and so does what it let applications do there.";

export function registerMemberRoutes(app: Api, members: MemberService): void {
  app.get(
    "/team/members",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("team:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listMembers",
        tags,
        summary: "List the members of the team",
        description: "All members with their roles.",
        querystring: PageQuery,
        response: { 200: ref(record.MemberList), ...refusals() },
      },
    },
    async (request) => {
      const page = fitPage(await members.list(callerOf(request), readPage(request.query)), memberView);
      return { members: page.items, ...showPage(page, request.query) };
    },
  );

  app.patch(
    "/team/members/:user_id",
    {
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "changeMemberRole",
        tags,
        summary: "Change the role of a member",
        description: "Only an owner can add or change an owner. The last owner of a team stays its owner.",
        params: record.MemberPath,
        body: ref(record.ChangeRole),
        response: {
          200: ref(record.MemberAnswer),
          ...refusals("member_not_found", "last_owner", ...BODY_REFUSALS),
        },
      },
    },
    async (request) => {
      const userId = readUserId(request.params.user_id);
      return {
        member: memberView(await members.changeRole(requesterOf(request), userId, request.body.role)),
      };
    },
  );

  app.delete(
    "/team/members/:user_id",
    {
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 100, bytes: SMALL }) },
      schema: {
        operationId: "removeMember",
        tags,
        summary: "Remove a member from the team",
        description: `${REMOVAL} Only an owner can remove an owner; the last one stays.`,
        params: record.MemberPath,
        response: { 200: ref(record.RemovedMember), ...refusals("member_not_found", "last_owner") },
      },
    },
    async (request) =>
      removedView(await members.remove(requesterOf(request), readUserId(request.params.user_id))),
  );

  app.delete(
    "/team/membership",
    {
      // A member needs no role to leave.
      config: { ...access("session"), ...costs("write", { rows: 100, bytes: SMALL }) },
      schema: {
        operationId: "leaveTeam",
        tags,
        summary: "Leave the team",
        description: `Removes the person who is signed in from the team of the session. ${REMOVAL} The last owner stays.`,
        response: {
          200: ref(record.RemovedMember),
          ...refusals("session_required", "member_not_found", "last_owner"),
        },
      },
    },
    async (request) => removedView(await members.leave(requesterOf(request))),
  );
}

/** A text that cannot be an id is answered like an id that no member has. */
function readUserId(text: string): string {
  const id = parseId("user", text);
  if (id === null) throw new Problem("member_not_found");
  return id;
}

function memberView({ userId, email, role, joinedAt }: Member): record.Member {
  return { id: formatId("user", userId), email, role, joinedAt: joinedAt.toISOString() };
}

function removedView({ userId, email, removedAt }: RemovedMember): record.RemovedMember {
  return { member: { id: formatId("user", userId), email, removedAt: removedAt.toISOString() } };
}
