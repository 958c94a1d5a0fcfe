// One Markdown file: its title, its headings, what can be linked to in it, and its HTML. It holds no style and no script of its own, as the
// server's policy demands.
import { Marked } from "marked";

/** A renderer of one page. `render` takes what turns the address of a link into one of the site. */
export function createRenderer(text) {
  const source = text.replace(/<!--[\s\S]*?-->\n?/g, "");
  const marked = new Marked();
  const tokens = marked.lexer(source);
  const headings = [];
  const names = createNames();
  for (const token of tokens.filter(({ type }) => type === "heading"))
    headings.push({ id: names(plain(token.text)), text: plain(token.text), depth: token.depth });
  const anchors = new Set([
    ...headings.map(({ id }) => id),
    ...Array.from(source.matchAll(/<a id="([^"]+)">/g), ([, id]) => id),
  ]);
  const title = headings[0]?.text ?? "Bellhop";
  return {
    title,
    headings,
    anchors,
    render(resolve) {
      let seen = 0;
      marked.use({
        renderer: {
          heading({ tokens: inner, depth }) {
            const { id } = headings[seen++] ?? { id: "" };
            return `<h${depth} id="${id}">${this.parser.parseInline(inner)} <a class="anchor" href="#${id}" aria-label="Link to this heading">#</a></h${depth}>\n`;
          },
          link({ href, tokens: inner }) {
            const address = resolve(href);
            const words = this.parser.parseInline(inner);
            return address === null ? words : `<a href="${escapeHtml(address)}">${words}</a>`;
          },
          image({ href, text: words }) {
            return `<img src="${escapeHtml(resolve(href) ?? "")}" alt="${escapeHtml(words)}" loading="lazy">`;
          },
          // A region that scrolls must be reachable by keyboard.
          code({ text: lines, lang = "" }) {
            const language = lang === "" ? "" : ` class="language-${escapeHtml(lang)}"`;
            return `<pre tabindex="0"><code${language}>${escapeCode(lines)}\n</code></pre>\n`;
          },
          table({ header, rows }) {
            const cell = (name, { tokens: inner, align }) =>
              `<${name}${align === "right" ? ' class="right"' : ""}>${this.parser.parseInline(inner)}</${name}>`;
            const row = (name, cells) => `<tr>${cells.map((one) => cell(name, one)).join("")}</tr>\n`;
            // A table of two columns without names has an empty header.
            const head = header.every(({ text: words }) => words === "")
              ? ""
              : `<thead>${row("th", header)}</thead>`;
            return `<div class="table" tabindex="0"><table>${head}<tbody>${rows.map((cells) => row("td", cells)).join("")}</tbody></table></div>\n`;
          },
        },
      });
      return { html: marked.parser(tokens), parts: partsOf(tokens, headings) };
    },
  };
}

/** What search finds: the text below each heading. */
function partsOf(tokens, headings) {
  const parts = [{ id: "", heading: headings[0]?.text ?? "", text: "" }];
  let seen = 0;
  for (const token of tokens) {
    if (token.type === "heading") {
      const { id = "", text: heading = "" } = headings[seen++] ?? {};
      if (seen > 1) parts.push({ id, heading, text: "" });
    } else if (token.type !== "space") {
      const part = parts.at(-1);
      if (part !== undefined) part.text += `${plain(token.raw)} `;
    }
  }
  return parts;
}

/** As GitHub names them, so that a link works in both places. */
function createNames() {
  const taken = new Map();
  return (text) => {
    const name = text
      .toLowerCase()
      .replace(/[^\p{Letter}\p{Number}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const count = taken.get(name) ?? 0;
    taken.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  };
}

function plain(text) {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]+>/g, "")
    .replace(/[`*|]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Code may contain entities, which it shows as they are. */
function escapeCode(text) {
  return escapeHtml(text.replaceAll("&", "&amp;"));
}

export function escapeHtml(text) {
  return text
    .replace(/&(?!\w+;)/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}
