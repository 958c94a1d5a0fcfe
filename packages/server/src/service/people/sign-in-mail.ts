import { html } from "../../domain/html.ts";
import type { Mail } from "../../domain/identity/mail.ts";

const IGNORE =
  "If it was not you who asked, leave this mail: without your click nothing happens, and nobody else can use the link.";

export function composeSignIn(email: string, link: string, validMinutes: number): Mail {
  const request = "here is your link to sign in to Bellhop:";
  const validity = `It works once, within ${validMinutes} minutes. Asking for another takes it out of use.`;
  const page = html`<!doctype html>
<p>Hello,</p>
<p>${request}</p>
<p><a href="${link}">Sign in to Bellhop</a></p>
<p>${validity}</p>
<p>${IGNORE}</p>
`;
  return {
    to: email,
    subject: "Sign in to Bellhop",
    text: `Hello,\n\n${request}\n\n${link}\n\n${validity}\n\n${IGNORE}\n`,
    html: page.toString(),
  };
}
