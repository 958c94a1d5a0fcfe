// The frame around a page of the documentation. Every script and style is a file: the server's policy allows no other.
import { escapeHtml } from "./markdown.mjs";

export function renderPage({ page, html, navigation, headings }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Bellhop</title>
<link rel="stylesheet" href="/help/help.css">
<script type="module" src="/help/help.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the page</a>
<header>
<a class="brand" href="/help/">Bellhop</a>
<form role="search" id="search"><input type="search" id="query" placeholder="Search" aria-label="Search the documentation" autocomplete="off" aria-controls="found"><ul id="found" hidden></ul></form>
<a href="/">Dashboard</a> <a href="/docs">API reference</a>
</header>
<div class="columns">
<details class="menu" open><summary>Contents</summary><nav aria-label="Documentation">
${navigation.map((group) => renderGroup(group, page)).join("\n")}
</nav></details>
<main id="content">
${html}
</main>
${renderOutline(headings)}
</div>
</body>
</html>
`;
}

function renderGroup({ title, pages }, current) {
  const items = pages.map(({ title: name, url }) => {
    const mark = url === current.url ? ' aria-current="page"' : "";
    return `<li><a href="${url}"${mark}>${escapeHtml(name)}</a></li>`;
  });
  return `<h2>${title}</h2>\n<ul>${items.join("")}</ul>`;
}

function renderOutline(headings) {
  const inner = headings.filter(({ depth }) => depth === 2);
  if (inner.length < 2) return "";
  const items = inner.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}
