import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import type { AuthService } from "../../service/access/auth-service.ts";
import type { SystemService } from "../../service/operator/system-service.ts";
import type { SessionService } from "../../service/people/session-service.ts";
import type { TeamService } from "../../service/people/team-service.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { problemBody } from "../http/error-answer.ts";
import type { Api } from "../http/schema-types.ts";
import type { SessionCookies } from "../http/session-cookie.ts";
import type { LinkDelivery } from "../pages/sign-in.ts";
import { fitPage } from "../schemas/page.ts";
import { membershipView } from "./teams.ts";

interface PageSessionDeps {
  readonly auth: AuthService;
  readonly sessions: SessionService;
  readonly teams: TeamService;
  readonly system: Pick<SystemService, "isOperator">;
  readonly cookies: SessionCookies;
  readonly links: LinkDelivery;
  readonly version: string;
}

const SwitchTeam = Type.Object({ team: Type.String() }, { additionalProperties: false });

/**
 * The session of a browser, for the dashboard alone: it never sees the token. No part of the API, which knows sessions by
 * their token and is the same with and without a dashboard.
 */
export function registerPageSessionRoutes(app: Api, deps: PageSessionDeps): void {
  const { auth, sessions, teams, system, cookies, version } = deps;
  /** How a person gets a link here, for the page that asks for one. */
  const signIn = { mail: deps.links === "mail", linkInLog: deps.links === "log" };

  async function sessionOf(request: FastifyRequest): Promise<{ principal: Principal; token: string }> {
    const token = cookies.readPage(request);
    if (token === undefined) throw new Problem("token_invalid");
    const principal = auth.recall(token) ?? (await auth.authenticate(token, request.ip));
    if (principal.kind !== "session") throw new Problem("token_invalid");
    return { principal, token };
  }

  async function show(principal: Principal) {
    const { role, environment, limits, requestsPerMinute } = principal;
    const [{ team, user }, memberships, isOperator] = await Promise.all([
      teams.whoAmI(principal),
      teams.list(principal),
      system.isOperator(principal),
    ]);
    return {
      person: { id: principal.id, email: user?.email ?? principal.name },
      team: { id: formatId("team", team.id), name: team.name, plan: team.plan },
      // The dashboard offers these; one may switch to any other by its id.
      teams: fitPage(memberships, (membership) => membershipView(membership, principal.teamId)).items,
      role,
      isOperator,
      environment,
      limits: { ...limits, requestsPerMinute },
      signIn,
      version,
    };
  }

  const keep = (reply: FastifyReply) => reply.header("cache-control", "no-store");
  const requesterOf = (principal: Principal, request: FastifyRequest): Requester => ({
    ...principal,
    address: request.ip,
    requestId: request.id,
  });

  app.get(
    "/page/session",
    { config: costs("page", { rows: 1_001, bytes: MIB }), schema: { hide: true } },
    async (request, reply) => {
      keep(reply);
      try {
        return await show((await sessionOf(request)).principal);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "token_invalid") throw error;
        // Not by the header that other refusals of this kind have: there is no credential that a browser should ask for.
        // Whether this browser was signed in before: the page then says why it asks again.
        const hadSession = cookies.readPage(request) !== undefined;
        return reply.code(401).send({ ...problemBody(error), signIn: { ...signIn, hadSession }, version });
      }
    },
  );

  app.post(
    "/page/session/end",
    { config: costs("write", { rows: 1, bytes: SMALL }), schema: { hide: true } },
    async (request, reply) => {
      const { principal, token } = await sessionOf(request);
      await sessions.end(requesterOf(principal, request), token);
      auth.recheck();
      return keep(reply).header("set-cookie", cookies.clear(request)).send({ signIn });
    },
  );

  app.post(
    "/page/session/team",
    { config: costs("page", { rows: 1_001, bytes: MIB }), schema: { hide: true, body: SwitchTeam } },
    async (request, reply) => {
      const { principal, token } = await sessionOf(request);
      const opened = await sessions.switchTeam(requesterOf(principal, request), token, request.body.team);
      auth.recheck();
      const { session } = opened;
      keep(reply).header("set-cookie", cookies.set(request, session.token, session.expiresAt));
      return show(await auth.authenticate(session.token, request.ip));
    },
  );
}
