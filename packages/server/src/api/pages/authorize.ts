import type { FastifyReply, FastifyRequest } from "fastify";
import { html } from "../../domain/html.ts";
import { formTargetOf } from "../../domain/identity/redirect-uri.ts";
import type { ConsentQuestion } from "../../service/oauth/consent-service.ts";
import type { OAuthService, Visitor } from "../../service/oauth/oauth-service.ts";
import { readParameters } from "../../service/oauth/parameters.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import type { SessionCookies } from "../http/session-cookie.ts";
import { SCOPE_WORDS } from "../openapi/scope-words.ts";
import { serverRefusals } from "../schemas/error.ts";
import { AuthorizeQuery } from "../schemas/oauth.ts";
import { answerErrorPage } from "./error-page.ts";
import { acceptForms, formField } from "./form.ts";
import { sendPage } from "./page.ts";

const PATH = "/v1/oauth/authorize";
const page = (description: string) => ({
  description,
  content: { "text/html": { schema: { type: "string" } } },
});

interface AuthorizeDeps {
  readonly oauth: OAuthService;
  readonly cookies: Pick<SessionCookies, "readConsent">;
}

/** The consent pages. In a separate scope, for their form. */
export function registerAuthorizePages(app: Api, deps: AuthorizeDeps): void {
  const { oauth } = deps;
  acceptForms(app);
  app.setErrorHandler(answerErrorPage);

  app.get(
    PATH,
    {
      config: costs("page", { rows: 1_001, bytes: MIB }),
      // Never a 400: the application gets a redirect once its address is verified.
      attachValidation: true,
      schema: {
        operationId: "authorize",
        tags: ["OAuth"],
        summary: "Ask a person for access",
        description:
          "For browsers: the application redirects its user here, who signs in and grants or denies access. PKCE " +
          "with `S256` is required. Unknown parameters are ignored.",
        security: [],
        querystring: AuthorizeQuery,
        response: {
          200: page("The question."),
          302: {
            type: "null",
            description: "Back to the application, with `error`, `error_description`, `state` and `iss`.",
          },
          303: { type: "null", description: "To the sign-in, and from there back to this page." },
          400: page("Unknown application or redirect URI: nobody is sent anywhere."),
          ...serverRefusals,
        },
      },
    },
    async (request, reply) => {
      const asked = await ask(deps, request, reply);
      return asked === null ? reply : sendConsentPage(reply, { ...asked, page: queryOf(request) });
    },
  );

  app.post(
    PATH,
    { config: costs("write", { rows: 1, bytes: SMALL }), schema: { hide: true } },
    async (request, reply) => {
      const asked = await ask(deps, request, reply);
      if (asked === null) return reply;
      const { question, visitor } = asked;
      const isOwn =
        isOwnOrigin(request, oauth.issuer()) &&
        visitor.isOwnForm(queryOf(request), formField(request, "csrf"));
      if (!isOwn) return sendForeignFormPage(reply);
      // 303: the browser continues with a GET, and the form is not sent on.
      reply.header("cache-control", "no-store");
      const isAllowed = formField(request, "decision") === "allow";
      if (!isAllowed) return reply.redirect(question.denied, 303);
      const requester = { ...visitor.principal, address: request.ip, requestId: request.id };
      return reply.redirect(await question.allow(requester), 303);
    },
  );
}

interface Asked {
  readonly question: ConsentQuestion;
  readonly visitor: Visitor;
}

/** The question and the person; null if another answer was sent. */
async function ask(
  { oauth, cookies }: AuthorizeDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Asked | null> {
  const review = await oauth.review(readParameters(new URLSearchParams(queryOf(request))));
  if (review.result === "refused") {
    sendRefusalPage(reply, review.reason);
    return null;
  }
  reply.header("cache-control", "no-store");
  if (review.result === "returned") {
    reply.redirect(review.location, request.method === "GET" ? 302 : 303);
    return null;
  }
  const session = cookies.readConsent(request);
  const visitor = session === null ? null : await oauth.findVisitor(session);
  if (visitor === null) {
    reply.redirect(`/sign-in?next=${encodeURIComponent(`${PATH}?${queryOf(request)}`)}`, 303);
    return null;
  }
  return { question: review.question, visitor };
}

/** As sent by the browser: the form repeats what the person saw. */
function queryOf({ url }: FastifyRequest): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1);
}

/** A browser sends the origin of a form; a program does not. */
function isOwnOrigin({ headers }: FastifyRequest, issuer: string): boolean {
  const { origin, host } = headers;
  if (origin === undefined || origin === new URL(issuer).origin) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** Asks a person for consent. `page` is the query of the request. */
function sendConsentPage(
  reply: FastifyReply,
  { question, visitor, page }: { question: ConsentQuestion; visitor: Visitor; page: string },
): FastifyReply {
  const { applicationName, ownerName, scopes, redirectUri } = question;
  const next = encodeURIComponent(`${PATH}?${page}`);
  return sendPage(reply, {
    title: `Allow ${applicationName}?`,
    formTargets: [formTargetOf(redirectUri)],
    referrerPolicy: "same-origin",
    body: html`<p><strong><bdi>${applicationName}</bdi></strong>, an application of the team
<strong><bdi>${ownerName}</bdi></strong>, asks to act in your name in the team
<strong><bdi>${visitor.teamName}</bdi></strong>. It could:</p>
<ul>${scopes.map((scope) => html`<li>${SCOPE_WORDS[scope]}</li>`)}</ul>
<p class="soft">But never more than you may do there yourself. You will be sent back to
<strong>${placeOf(redirectUri)}</strong>.</p>
<form method="post" action="?${page}">
<input type="hidden" name="csrf" value="${visitor.formProof(page)}">
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="quiet">Deny</button>
</form>
<p class="soft">Signed in as <strong>${visitor.principal.name}</strong>.
<a href="/sign-in?next=${next}">Not you?</a></p>`,
  });
}

/** The redirect target in readable form. */
function placeOf(uri: string): string {
  const { protocol, host } = new URL(uri);
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1);
}

function sendRefusalPage(reply: FastifyReply, reason: string): void {
  sendPage(reply, {
    title: "This link is not right",
    status: 400,
    body: html`<p>${reason} So you stay here, and nothing was allowed.</p>
<p class="soft">If it is your own application: <code>client_id</code> must be the one that it was registered under, and
<code>redirect_uri</code> one of its redirect URIs, letter by letter.</p>`,
  });
}

function sendForeignFormPage(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: "That did not come from here",
    status: 403,
    body: html`<p>The answer was not given on our page, or your session has changed since. Nothing was allowed: please
go back to the application and begin again.</p>`,
  });
}
