import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { type Html, html } from "../../domain/html.ts";
import { Problem } from "../../domain/problem.ts";
import type { OAuthService } from "../../service/oauth/oauth-service.ts";
import { readParameters } from "../../service/oauth/parameters.ts";
import type { SignInService } from "../../service/people/sign-in-service.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import type { CookieRules, SessionCookies } from "../http/session-cookie.ts";
import { answerErrorPage } from "./error-page.ts";
import { acceptForms, createFormKey, formField } from "./form.ts";
import { sendPage } from "./page.ts";

/** The only page that the sign-in may lead back to: no link of ours may lead elsewhere. */
const NEXT_PATH = /^\/v1\/oauth\/authorize\?[\x21-\x7e]{0,4000}$/;

/** The dashboard. */
const HOME = "/";

/** Mail programs and scanners add parameters to a link: they are ignored. */
const SignInQuery = Type.Object({ next: Type.Optional(Type.String()) });
const LinkQuery = Type.Object({ token: Type.Optional(Type.String()) });

/** How a link reaches a person; `operator`: created at the command line. */
export type LinkDelivery = "mail" | "log" | "operator";

/** The pages of the sign-in by mail. In a scope of its own, for the forms that it takes. */
export function registerSignInPages(
  app: Api,
  deps: {
    readonly signIn: SignInService;
    readonly oauth: Pick<OAuthService, "review">;
    readonly cookieRules: CookieRules;
    readonly cookies: SessionCookies;
    readonly links: LinkDelivery;
  },
): void {
  const { signIn, oauth, links, cookies } = deps;
  const formKey = createFormKey("/sign-in", deps.cookieRules);
  acceptForms(app);
  app.setErrorHandler(answerErrorPage);

  app.get(
    "/sign-in",
    { config: costs("point", { rows: 0, bytes: SMALL }), schema: { hide: true, querystring: SignInQuery } },
    async (request, reply) =>
      sendSignInForm(reply, { email: "", next: readNextPath(request.query.next), complaint: null, links }),
  );

  app.post(
    "/sign-in",
    { config: costs("write", { rows: 1, bytes: SMALL }), schema: { hide: true } },
    async (request, reply) => {
      const email = formField(request, "email");
      const next = await keepQuestion(oauth, readNextPath(formField(request, "next")));
      try {
        await signIn.requestLink(email, { address: request.ip, nextPath: next });
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "invalid") throw error;
        return sendSignInForm(reply, {
          email,
          next,
          complaint: "Please enter a valid mail address.",
          links,
        });
      }
      return SENT_PAGES[links](reply, email, next);
    },
  );

  // A link scanner reaches only this page; the click on its button signs in.
  app.get(
    "/sign-in/link",
    { config: costs("point", { rows: 1, bytes: SMALL }), schema: { hide: true, querystring: LinkQuery } },
    async (request, reply) => {
      const { token = "" } = request.query;
      await signIn.check(token);
      return sendPage(reply, {
        title: "Welcome to Bellhop",
        body: html`<p>One click, and you are signed in.</p>
<form method="post" action="/sign-in/link">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="form" value="${formKey.issue(request, reply)}">
<button type="submit">Sign in</button>
</form>
<p class="soft">You did not ask for this? Then close this page, and nothing happens.</p>`,
      });
    },
  );

  app.post(
    "/sign-in/link",
    { config: costs("write", { rows: 1, bytes: SMALL }), schema: { hide: true } },
    async (request, reply) => {
      formKey.check(request);
      const origin = { address: request.ip, requestId: request.id };
      const { session, nextPath } = await signIn.exchange(formField(request, "token"), origin);
      reply.header("set-cookie", cookies.set(request, session.token, session.expiresAt));
      // 303: the browser goes on with a GET, and a reload does not send the form again.
      return reply.header("cache-control", "no-store").redirect(nextPath ?? HOME, 303);
    },
  );
}

function sendMailedPage(reply: FastifyReply, email: string, next: string | null): FastifyReply {
  return sendPage(reply, {
    title: "Check your mail",
    body: html`<p>If <strong>${email}</strong> may sign in here, a link is on its way. It works once, within 15
minutes.</p>
<p class="soft">Nothing there? Look into the spam folder, or ${askAgain(next)}.</p>`,
  });
}

function sendLoggedPage(reply: FastifyReply, email: string, next: string | null): FastifyReply {
  return sendPage(reply, {
    title: "Look into the server’s log",
    body: html`<p>This server has no mail server. If <strong>${email}</strong> may sign in here, the link is in its log, in the
newest line with <code>mail.not_sent</code>. It works once, within 15 minutes.</p>
<p class="soft">Links are mailed once the operator sets <code>BELLHOP_SMTP_URL</code>. Nothing there? Please ${askAgain(next)}.</p>`,
  });
}

function sendOperatorPage(reply: FastifyReply, email: string): FastifyReply {
  return sendPage(reply, {
    title: "Ask the operator",
    body: html`<p>This server has no mail server, and keeps links out of its log. Its operator makes one for
<strong>${email}</strong> with <code>bellhop session link</code>.</p>
<p class="soft">Links are mailed once the operator sets <code>BELLHOP_SMTP_URL</code>.</p>`,
  });
}

const SENT_PAGES: Readonly<
  Record<LinkDelivery, (reply: FastifyReply, email: string, next: string | null) => FastifyReply>
> = { mail: sendMailedPage, log: sendLoggedPage, operator: sendOperatorPage };

const FORM_TEXTS: Readonly<Record<LinkDelivery, { readonly promise: string; readonly button: string }>> = {
  mail: { promise: "We mail you a link.", button: "Mail me a link" },
  log: { promise: "You get a link, in the log of this server.", button: "Make a link" },
  operator: { promise: "The operator of this server gives you a link.", button: "How to get a link" },
};

function askAgain(next: string | null): Html {
  return html`<a href="/sign-in${next === null ? null : html`?next=${encodeURIComponent(next)}`}">ask again</a>`;
}

interface SignInForm {
  readonly email: string;
  readonly next: string | null;
  readonly complaint: string | null;
  readonly links: LinkDelivery;
}

function sendSignInForm(reply: FastifyReply, form: SignInForm): FastifyReply {
  const { email, next, complaint, links } = form;
  const { promise, button } = FORM_TEXTS[links];
  return sendPage(reply, {
    title: "Sign in",
    status: complaint === null ? 200 : 400,
    body: html`<p>${promise} There is no password to
remember.</p>
${complaint === null ? null : html`<p class="alarm" id="complaint" role="alert">${complaint}</p>`}
<form method="post" action="/sign-in">
<label for="email">Mail address</label>
<input type="email" id="email" name="email" value="${email}" autocomplete="email" maxlength="254" required autofocus
${complaint === null ? null : html`aria-invalid="true" aria-describedby="complaint"`}>
${next === null ? null : html`<input type="hidden" name="next" value="${next}">`}
<button type="submit">${button}</button>
</form>`,
  });
}

/** Null for anything that would lead elsewhere. */
function readNextPath(text: string | undefined): string | null {
  return text !== undefined && NEXT_PATH.test(text) ? text : null;
}

/**
 * Any caller can request a link for another person's address with a chosen next page. So our mail leads only to a valid
 * consent question: an invalid request is redirected at once to the application's address.
 */
async function keepQuestion(
  oauth: Pick<OAuthService, "review">,
  path: string | null,
): Promise<string | null> {
  if (path === null) return null;
  const { result } = await oauth.review(readParameters(new URLSearchParams(path.slice(path.indexOf("?")))));
  return result === "asked" ? path : null;
}
