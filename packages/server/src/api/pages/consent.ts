import type { FastifyReply } from "fastify";
import { html } from "../../domain/html.ts";
import { formTargetOf } from "../../domain/identity/redirect-uri.ts";
import type { ConsentQuestion } from "../../service/oauth/consent-service.ts";
import type { Visitor } from "../../service/oauth/visitor.ts";
import { SCOPE_WORDS } from "../openapi/scope-words.ts";
import { sendPage } from "./page.ts";

/** Asks a person whether an application may act in their name. `page` is the query that they were sent here with. */
export function sendConsentPage(
  reply: FastifyReply,
  { question, visitor, page }: { question: ConsentQuestion; visitor: Visitor; page: string },
): FastifyReply {
  const { applicationName, ownerName, scopes, redirectUri } = question;
  const next = encodeURIComponent(`/v1/oauth/authorize?${page}`);
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

/** Where the browser goes, as people read addresses. */
function placeOf(uri: string): string {
  const { protocol, host } = new URL(uri);
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1);
}
