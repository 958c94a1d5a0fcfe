import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { type Html, html } from "../../domain/html.ts";
import { STYLE } from "./style.ts";

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** 200 if left out. */
  readonly status?: number;
  /**
   * Where a form of this page may end up besides here, such as the origin that a consent leads back to: browsers hold
   * the policy against every redirect that follows a form.
   */
  readonly formTargets?: readonly string[];
  /** For a form that must say where it came from: under our usual policy a browser says `null`, even to ourselves. */
  readonly referrerPolicy?: "same-origin";
}

/** Written here, so that the hash in the policy is of what is sent. */
const STYLE_TEXT = STYLE.trim();
const STYLE_HASH = createHash("sha256").update(STYLE_TEXT).digest("base64");

/** No script runs on a page, nothing is loaded, nobody may frame it, and no address that holds a token travels on. */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const formAction = ["'self'", ...(page.formTargets ?? [])].join(" ");
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return reply
    .code(page.status ?? 200)
    .headers({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      "referrer-policy": page.referrerPolicy ?? "no-referrer",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    })
    .send(renderPage(page));
}

/** The bell of a front desk. */
const BELL = html`<svg aria-hidden="true" width="22" height="22" viewBox="0 0 24 24" fill="currentColor">
<circle cx="12" cy="5.6" r="1.9"/><path d="M3.5 16.5a8.5 8.5 0 0 1 17 0z"/><rect x="2" y="18" width="20" height="2.6" rx="1.3"/>
</svg>`;

function renderPage({ title, body }: Page): string {
  // Not through the template, which would escape it; it is a constant of ours and the policy knows its hash.
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${html`<title>${title} · Bellhop</title>`}
<style>${STYLE_TEXT}</style>
</head>`;
  return `${head}${html`
<body>
<main>
<p class="brand">${BELL}Bellhop</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`}`;
}
