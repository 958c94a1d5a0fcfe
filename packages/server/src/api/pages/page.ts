import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { type Html, html } from "../../domain/html.ts";

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

/** The one style of all pages. System fonts and colours of our own: nothing is loaded. */
const STYLE = `:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --card: #ffffff; --edge: #dcdfe4; --field: #838c9b; --ink: #1c2330; --soft: #596273;
  --accent: #2450c8; --accent-ink: #ffffff; --accent-over: #1b3fa3; --alarm: #b3261e; --alarm-ground: #fdecea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12151b; --card: #1b2029; --edge: #323a48; --field: #6f7a8d; --ink: #e8ebf1; --soft: #a0a9ba;
    --accent: #8eabff; --accent-ink: #0e1730; --accent-over: #adc2ff; --alarm: #ffb4ab; --alarm-ground: #3b1f1d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: flex; justify-content: center; align-items: flex-start;
  padding: 12vh 1rem 2rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main {
  width: 100%; max-width: 27rem; padding: 2rem; background: var(--card);
  border: 1px solid var(--edge); border-radius: 14px; overflow-wrap: anywhere;
}
.brand { display: flex; align-items: center; gap: .5rem; margin: 0 0 1.5rem; font-weight: 650; letter-spacing: .01em; color: var(--accent); }
h1 { margin: 0 0 .75rem; font-size: 1.45rem; line-height: 1.25; }
p, ul, form { margin: 0 0 1rem; }
main > :last-child, form > :last-child { margin-bottom: 0; }
ul { padding-left: 1.2rem; }
label { display: block; margin-bottom: .35rem; font-weight: 600; }
input[type="email"], input[type="text"] {
  display: block; width: 100%; margin-bottom: 1rem; padding: .65rem .75rem; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--field); border-radius: 8px;
}
button {
  display: block; width: 100%; margin-bottom: .75rem; padding: .7rem 1rem; font: inherit; font-weight: 600;
  color: var(--accent-ink); background: var(--accent); border: 1px solid transparent; border-radius: 8px;
  cursor: pointer;
}
button:hover { background: var(--accent-over); }
button.quiet { color: var(--ink); background: transparent; border-color: var(--field); }
button.quiet:hover { background: var(--ground); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.soft { color: var(--soft); font-size: .925rem; }
.alarm { padding: .65rem .8rem; color: var(--alarm); background: var(--alarm-ground); border-radius: 8px; }
@media (max-width: 30rem) {
  body { padding: 0; background: var(--card); }
  main { padding: 1.5rem 1.25rem; border: 0; border-radius: 0; }
}`;
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** No script runs on a page, nothing is loaded, no site may frame it, and no address that holds a token travels on. */
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
<style>${STYLE}</style>
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
