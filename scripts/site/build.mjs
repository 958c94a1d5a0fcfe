// Makes the documentation's pages of the repository's Markdown: links between files become links between pages, links to other files of
// the repository become links to copies of them, and a link that leads nowhere is a problem.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { createRenderer } from "./markdown.mjs";
import { NAVIGATION } from "./navigation.mjs";
import { renderPage } from "./template.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const BASE = "/help/";
const DECISIONS = "docs/decisions/index.md";
const ROOT_PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
/** Too small to gain by it. */
const COMPRESS_FROM = 1024;

/** The files of the site by path, and what is wrong with the sources; with problems there is no site. */
export function renderSite(root) {
  const sources = readSources(root);
  const pages = new Map();
  for (const [path, text] of sources) pages.set(path, { path, url: urlOf(path), ...createRenderer(text) });
  const files = new Map();
  const problems = [];
  const resolveLink = createLinks({ root, pages, files, problems });
  const navigation = navigationOf(pages);
  const sections = [];
  for (const page of pages.values()) {
    const { html, parts } = page.render((link) => resolveLink(page.path, link));
    files.set(fileOf(page.url), renderPage({ page, html, navigation, headings: page.headings }));
    for (const { id, heading, text } of parts)
      sections.push({
        id: sections.length,
        url: id === "" ? page.url : `${page.url}#${id}`,
        page: page.title,
        heading,
        text,
      });
  }
  files.set("search.json", JSON.stringify(sections));
  files.set("llms.txt", listPages(navigation));
  for (const name of ["help.css", "help.js"]) files.set(name, readFileSync(join(here, name)));
  files.set("minisearch.js", readFileSync(fileURLToPath(import.meta.resolve("minisearch"))));
  return { files, problems, pages };
}

export function writeSite(files, target) {
  rmSync(target, { recursive: true, force: true });
  // The first page last: it says that the rest is there.
  const ordered = [...files].sort(([a], [b]) => Number(a === "index.html") - Number(b === "index.html"));
  for (const [name, content] of ordered) {
    const file = join(target, name);
    mkdirSync(dirname(file), { recursive: true });
    const bytes = Buffer.from(content);
    if (bytes.length > COMPRESS_FROM && !name.endsWith(".png"))
      writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(file, bytes);
  }
}

function readSources(root) {
  const inDirectories = ["docs", "examples"]
    .filter((name) => existsSync(join(root, name)))
    .flatMap((name) =>
      readdirSync(join(root, name), { recursive: true, encoding: "utf8" }).map((file) => `${name}/${file}`),
    );
  const paths = [...ROOT_PAGES, ...inDirectories].filter(
    (path) => path.endsWith(".md") && existsSync(join(root, path)),
  );
  const sources = new Map(paths.sort().map((path) => [path, readFileSync(join(root, path), "utf8")]));
  const decisions = paths.filter((path) => path.startsWith("docs/decisions/"));
  sources.set(
    DECISIONS,
    `# Decisions\n\n${decisions.map((path) => lineOf(path, sources.get(path) ?? "")).join("\n")}\n`,
  );
  return sources;
}

function lineOf(path, text) {
  return `- [${/^# (.+)$/m.exec(text)?.[1] ?? path}](${posix.basename(path)})`;
}

function urlOf(path) {
  if (path === "docs/README.md") return BASE;
  const name = path
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .replace(/\/(README|index)$/, "")
    .toLowerCase();
  return `${BASE}${name}`;
}

function fileOf(url) {
  return url === BASE ? "index.html" : `${url.slice(BASE.length)}.html`;
}

/** Turns the address of a link or an image in a file of the repository into one of the site; null: there is no such page here. */
function createLinks({ root, pages, files, problems }) {
  return (from, link) => {
    if (/^(https?|mailto):/.test(link)) {
      if (!isAddress(link)) problems.push(`${from}: ${link}: this is no address; write it as code`);
      return link;
    }
    const [address = "", anchor] = link.split("#");
    const path = address === "" ? from : posix.normalize(posix.join(posix.dirname(from), address));
    const page = pages.get(path) ?? pages.get(join(path, "README.md")) ?? pages.get(join(path, "index.md"));
    if (page !== undefined) {
      if (anchor !== undefined && !page.anchors.has(anchor))
        problems.push(`${from}: ${link}: ${page.path} has no such heading`);
      return anchor === undefined ? page.url : `${page.url}#${anchor}`;
    }
    if (path.startsWith("..") || !existsSync(join(root, path))) {
      problems.push(`${from}: ${link}: there is no such file`);
      return null;
    }
    if (path === "openapi.json") return "/openapi.json";
    // A directory of sources is not in the package; its name is enough.
    if (statSync(join(root, path)).isDirectory()) return null;
    const name = /\.(png|svg)$/.test(path) ? `images/${posix.basename(path)}` : `files/${path}.txt`;
    files.set(name, readFileSync(join(root, path)));
    return BASE + name;
  };
}

/** Not so `http://HOST:PORT`, which Markdown makes a link of. */
function isAddress(link) {
  if (link.startsWith("mailto:")) return true;
  return URL.canParse(link) && /\.|^localhost$/.test(new URL(link).hostname);
}

function navigationOf(pages) {
  const listed = new Set(NAVIGATION.flatMap(([, paths]) => paths));
  const isOther = (path) => !listed.has(path) && path !== "README.md" && !path.startsWith("docs/decisions/");
  const others = [...pages.keys()].filter(isOther);
  return [...NAVIGATION, ["More", others]]
    .map(([title, paths]) => ({
      title,
      pages: paths.map((path) => pages.get(path)).filter((page) => page !== undefined),
    }))
    .filter(({ pages: found }) => found.length > 0);
}

/** For programs that read: what there is, by what people want to do. */
function listPages(navigation) {
  const blocks = navigation.map(
    ({ title, pages }) =>
      `## ${title}\n\n${pages.map(({ title: name, url }) => `- [${name}](${url})`).join("\n")}\n`,
  );
  return `# Bellhop\n\n> A self-hosted HTTP task queue. The API is described at /openapi.json.\n\n${blocks.join("\n")}`;
}
