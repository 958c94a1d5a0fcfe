import { formatId } from "../../domain/public-id.ts";
import type { ListedSession, SessionService, SignedIn } from "../../service/people/session-service.ts";
import type { SignInService } from "../../service/people/sign-in-service.ts";
import { access } from "../http/access.ts";
import { acceptedCredential, callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { OPEN_BODY_LIMIT } from "../http/json-body.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, openRefusals, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";
import * as record from "../schemas/sign-in.ts";

const tags = ["Sign-in"];

/** Public: a person who can read the mail may sign in. */
export function registerSignInRoutes(app: Api, signIn: SignInService): void {
  app.post(
    "/auth/magic-link",
    {
      config: costs("write", { rows: 1, bytes: SMALL }),
      bodyLimit: OPEN_BODY_LIMIT,
      schema: {
        operationId: "requestMagicLink",
        tags,
        summary: "Ask for a sign-in link",
        description:
          "Mails a link that works once, within 15 minutes; an older one to the same address stops working. The answer " +
          "is the same whether or not the address is known. At most 5 mails in 15 minutes to one address, and 20 for one " +
          "source. No credential is needed.",
        security: [],
        body: ref(record.RequestMagicLink),
        response: {
          202: ref(record.MagicLinkSent),
          ...openRefusals(...BODY_REFUSALS, "rate_limited", "database_away"),
        },
      },
    },
    async (request, reply) => {
      await signIn.requestLink(request.body.email, { address: request.ip, nextPath: null });
      reply.code(202);
      return { sent: true };
    },
  );

  app.post(
    "/auth/session",
    {
      config: costs("write", { rows: 1, bytes: SMALL }),
      bodyLimit: OPEN_BODY_LIMIT,
      schema: {
        operationId: "openSession",
        tags,
        summary: "Sign in with a link",
        description:
          "Takes the token of a sign-in link, or of an invitation, for a session of 24 hours. A person who signs in for the " +
          "first time gets a team on the free plan; the session is in the team joined first, or in that of the " +
          "invitation. At most 30 requests in 60 s from one source. No credential is needed.",
        security: [],
        body: ref(record.OpenSession),
        response: {
          200: ref(record.SignedIn),
          ...openRefusals(...BODY_REFUSALS, "token_invalid", "rate_limited", "database_away"),
        },
      },
    },
    async (request, reply) => {
      const origin = { address: request.ip, requestId: request.id };
      const signedIn = await signIn.exchange(request.body.token, origin);
      reply.header("cache-control", "no-store");
      return signedInView(signedIn);
    },
  );
}

export function registerSessionRoutes(app: Api, sessions: SessionService): void {
  app.get(
    "/sessions",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("session"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listSessions",
        tags,
        summary: "List your sessions",
        description:
          "Sessions of the signed-in person, in all teams. A session opened by an invitation sees only itself.",
        querystring: PageQuery,
        response: { 200: ref(record.SessionList), ...refusals("session_required") },
      },
    },
    async (request) => {
      const page = fitPage(await sessions.list(callerOf(request), readPage(request.query)), sessionView);
      return { sessions: page.items, ...showPage(page, request.query) };
    },
  );

  app.delete(
    "/sessions/:session_id",
    {
      config: { ...access("session"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "endOneSession",
        tags,
        summary: "End one of your sessions",
        description: "On this node at once, on the others within 1 s. It may be the current session.",
        params: record.SessionPath,
        response: {
          200: ref(record.EndedOneSession),
          ...refusals("session_required", "session_not_found"),
        },
      },
    },
    async (request) => {
      const id = request.params.session_id;
      const endedAt = await sessions.endOne(requesterOf(request), id);
      return { session: { id, endedAt: endedAt.toISOString() } };
    },
  );

  app.delete(
    "/auth/session",
    {
      config: { ...access("session"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "endSession",
        tags,
        summary: "Sign out",
        description:
          "Ends the session of the request's token: on this node at once, on the others within 1 s.",
        response: { 200: ref(record.EndedSession), ...refusals("session_required") },
      },
    },
    async (request) => {
      const endedAt = await sessions.end(requesterOf(request), acceptedCredential(request));
      return { session: { endedAt: endedAt.toISOString() } };
    },
  );

  app.post(
    "/auth/session/team",
    {
      config: { ...access("session"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "switchTeam",
        tags,
        summary: "Switch to another of your teams",
        description:
          "A session is in one team. This ends it and opens one in another team, with the same expiry. A session " +
          "opened by an invitation cannot switch.",
        body: ref(record.SwitchTeam),
        response: {
          200: ref(record.SignedIn),
          ...refusals("session_required", "session_bound", "team_not_found", ...BODY_REFUSALS),
        },
      },
    },
    async (request) => {
      const credential = acceptedCredential(request);
      return signedInView(await sessions.switchTeam(requesterOf(request), credential, request.body.teamId));
    },
  );
}

function sessionView(session: ListedSession): record.Session {
  const { id, teamPublicId, teamName, createdAt, expiresAt, isCurrent } = session;
  return {
    id: formatId("ses", id),
    team: { id: formatId("team", teamPublicId), name: teamName },
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    current: isCurrent,
  };
}

function signedInView({ session, user, team }: SignedIn): record.SignedIn {
  return {
    session: { token: session.token, expiresAt: session.expiresAt.toISOString() },
    user: { id: formatId("user", user.id), email: user.email },
    team: { id: formatId("team", team.id), name: team.name, plan: team.plan },
  };
}
