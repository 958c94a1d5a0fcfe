import { html } from "../../domain/html.ts";
import type { Mail } from "../../domain/identity/mail.ts";
import type { Requester } from "../../domain/identity/principal.ts";
import type { Invitation, Team } from "../../domain/identity/team.ts";

const IGNORE_LINK =
  "If it was not you who asked, leave this mail: without your click nothing happens, and nobody else can use the link.";

export function composeSignInMail(email: string, link: string, validMinutes: number): Mail {
  const request = "here is your link to sign in to Bellhop:";
  const validity = `It works once, within ${validMinutes} minutes. Asking for another takes it out of use.`;
  const page = html`<!doctype html>
<p>Hello,</p>
<p>${request}</p>
<p><a href="${link}">Sign in to Bellhop</a></p>
<p>${validity}</p>
<p>${IGNORE_LINK}</p>
`;
  return {
    to: email,
    subject: "Sign in to Bellhop",
    text: `Hello,\n\n${request}\n\n${link}\n\n${validity}\n\n${IGNORE_LINK}\n`,
    html: page.toString(),
  };
}

const IGNORE_INVITATION = "If you did not expect this mail, leave it: without your click nothing happens.";

export function composeInvitationMail(
  requester: Pick<Requester, "kind" | "name">,
  team: Team,
  { email, role, expiresAt }: Invitation,
  link: string,
): Mail {
  const invitation = `${describeInviter(requester)} invites you to join the team ${quote(team.name)} on Bellhop, with the role ${role}.`;
  const until = `The link works once, until ${expiresAt.toUTCString()}.`;
  const page = html`<!doctype html>
<p>Hello,</p>
<p>${invitation}</p>
<p><a href="${link}">Join the team</a></p>
<p>${until} ${IGNORE_INVITATION}</p>
`;
  return {
    to: email,
    subject: `Join ${quote(team.name)} on Bellhop`,
    text: `Hello,\n\n${invitation}\n\n${link}\n\n${until} ${IGNORE_INVITATION}\n`,
    html: page.toString(),
  };
}

function describeInviter({ kind, name }: Pick<Requester, "kind" | "name">): string {
  switch (kind) {
    case "session":
      return name;
    case "api_key":
      return `The API key ${quote(name)}`;
    case "application":
      return `The application ${quote(name)}`;
  }
}

/** Line and direction marks. */
const MARKS = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/**
 * Names are untrusted: they are quoted and cannot end the quotes, break the line or reverse it, so that none reads like
 * our own text.
 */
function quote(name: string): string {
  return `“${name.replace(/[“”]/g, "'").replace(MARKS, " ").replace(/ {2,}/g, " ")}”`;
}
