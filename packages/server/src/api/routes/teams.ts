import type { FastifyRequest } from "fastify";
import { invalid } from "../../domain/complaint.ts";
import type { Membership, Team } from "../../domain/identity/team.ts";
import { formatId } from "../../domain/public-id.ts";
import type { TeamService } from "../../service/people/team-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { blankComplaints, labelComplaints } from "../http/label.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";
import * as record from "../schemas/team.ts";

const tags = ["Teams"];

export function registerTeamRoutes(app: Api, teams: TeamService): void {
  app.get(
    "/teams",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("session"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listTeams",
        tags,
        summary: "List your teams",
        description: "The teams of the signed-in person.",
        querystring: PageQuery,
        response: { 200: ref(record.TeamList), ...refusals("session_required") },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const page = fitPage(await teams.list(caller, readPage(request.query)), (membership) =>
        membershipView(membership, caller.teamId),
      );
      return { teams: page.items, ...showPage(page, request.query) };
    },
  );

  app.post(
    "/teams",
    {
      preValidation: refuseBlankName,
      // Any role will do: it is a role in the current team, which this does not concern.
      config: { ...access("session"), ...costs("write", { rows: 2, bytes: SMALL }) },
      schema: {
        operationId: "createTeam",
        tags,
        summary: "Create a team",
        description:
          "The signed-in person owns it. It starts on the free plan, with a queue `default`. The session stays in " +
          "its team.",
        body: ref(record.NameTeam),
        response: {
          201: ref(record.CreatedTeam),
          ...refusals("session_required", "session_bound", "team_limit", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const team = await teams.create(requesterOf(request), readName(request.body));
      reply.code(201);
      return { team: { ...teamView(team), role: "owner" as const } };
    },
  );

  app.get(
    "/team",
    {
      config: { ...access("team:read"), ...costs("point", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "getTeam",
        tags,
        summary: "Get the team",
        description: "The team of the credential.",
        response: { 200: ref(record.TeamAnswer), ...refusals() },
      },
    },
    async (request) => ({ team: teamView(await teams.get(callerOf(request))) }),
  );

  app.patch(
    "/team",
    {
      preValidation: refuseBlankName,
      config: { ...access("team:write", "admin"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "renameTeam",
        tags,
        summary: "Rename the team",
        description: "The name is for people; the `id` does not change.",
        body: ref(record.NameTeam),
        response: { 200: ref(record.TeamAnswer), ...refusals(...BODY_REFUSALS) },
      },
    },
    async (request) => ({ team: teamView(await teams.rename(requesterOf(request), readName(request.body))) }),
  );
}

async function refuseBlankName({ body }: FastifyRequest): Promise<void> {
  const complaints = blankComplaints(body, "name");
  if (complaints.length > 0) throw invalid(complaints);
}

function readName({ name }: { readonly name: string }): string {
  const complaints = labelComplaints("name", name);
  if (complaints.length > 0) throw invalid(complaints);
  return name;
}

function teamView({ id, name, plan, createdAt }: Team): record.Team {
  return { id: formatId("team", id), name, plan, createdAt: createdAt.toISOString() };
}

export function membershipView(
  { teamId, team, role, joinedAt }: Membership,
  currentTeamId: number,
): record.TeamMembership {
  const { id, name, plan } = team;
  return {
    id: formatId("team", id),
    name,
    plan,
    role,
    joinedAt: joinedAt.toISOString(),
    current: teamId === currentTeamId,
  };
}
