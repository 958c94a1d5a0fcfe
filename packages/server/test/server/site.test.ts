import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../places.ts";

interface Site {
  readonly files: ReadonlyMap<string, string | Buffer>;
  readonly problems: readonly string[];
  readonly pages: ReadonlyMap<string, { readonly url: string; readonly anchors: ReadonlySet<string> }>;
}

const builder = pathToFileURL(join(ROOT, "scripts/site/build.mjs")).href;

/** What is served at /help. Its pages are rendered here, and not written. */
describe("the documentation site", async () => {
  const { renderSite }: { renderSite: (root: string) => Site } = await import(builder);
  const site = renderSite(ROOT);
  const textOf = (name: string) => String(site.files.get(name));
  const pages = [...site.files.keys()].filter((name) => name.endsWith(".html"));

  it("has a page for every Markdown file, without dead links", (test) => {
    assert.deepEqual(site.problems, []);
    test.diagnostic(`${pages.length} pages`);
    assert.ok(pages.length > 45, String(pages.length));
    assert.equal(pages.length, site.pages.size);
  });

  it("refuses a link to a placeholder", async () => {
    const root = await mkdtemp(join(tmpdir(), "bellhop-site-"));
    try {
      await mkdir(join(root, "docs"));
      const words =
        "http://HOST:PORT, https://<host>/x, http://localhost:1, `http://HOST:PORT` and https://a.test/b";
      await writeFile(join(root, "docs/README.md"), `# Start\n\n${words}\n`);
      assert.deepEqual(renderSite(root).problems, [
        "docs/README.md: http://HOST:PORT: this is no address; write it as code",
      ]);
    } finally {
      await rm(root, { recursive: true });
    }
  });

  it("links only to pages, files and headings that exist", () => {
    const urls = new Map([...site.pages.values()].map(({ url, anchors }) => [url, anchors]));
    let links = 0;
    for (const name of pages) {
      for (const [, target = ""] of textOf(name).matchAll(/(?:href|src)="(\/help\/[^"]*)"/g)) {
        const [path = "", anchor] = target.split("#");
        const anchors = urls.get(path);
        assert.ok(anchors !== undefined || site.files.has(path.slice("/help/".length)), `${name}: ${target}`);
        if (anchor !== undefined) assert.ok(anchors?.has(anchor), `${name}: ${target}`);
        links++;
      }
    }
    assert.ok(links > 1000, String(links));
  });

  it("has no inline script, style or handler, which the security policy would block", () => {
    for (const name of pages) {
      const tags = textOf(name).replace(/<pre [\s\S]*?<\/pre>/g, "");
      assert.doesNotMatch(tags, /<style|<script(?! type="module" src="\/help\/help\.js"><\/script>)/, name);
      assert.doesNotMatch(tags, /<[^>]+ (style|on\w+)=/, name);
    }
  });

  it("lets the keyboard reach code and tables that scroll", () => {
    for (const name of pages) assert.doesNotMatch(textOf(name), /<pre>|<div class="table">/, name);
  });

  it("has every page except the decisions in its navigation", () => {
    const [, navigation = ""] =
      /<nav aria-label="Documentation">([\s\S]*?)<\/nav>/.exec(textOf("index.html")) ?? [];
    const missing = [...site.pages]
      .filter(([path]) => path !== "README.md" && !/^docs\/decisions\/\d/.test(path))
      .filter(([, { url }]) => !navigation.includes(`href="${url}"`));
    assert.deepEqual(missing, []);
  });

  it("finds a page by a word of its text", async () => {
    const { default: MiniSearch } = await import("minisearch");
    const index = new MiniSearch({ fields: ["heading", "page", "text"], storeFields: ["url"] });
    index.addAll(JSON.parse(textOf("search.json")));
    const urls = index.search("Retry-After", { combineWith: "AND" }).map(({ url }) => String(url));
    assert.ok(
      urls.some((url) => url.startsWith("/help/retries")),
      urls.join(" "),
    );
  });

  it("reports a link to a missing file or heading", async () => {
    const root = await mkdtemp(join(tmpdir(), "bellhop-site-"));
    try {
      await mkdir(join(root, "docs"));
      await writeFile(
        join(root, "docs/README.md"),
        "# One\n\n[a](two.md#there) [b](two.md#gone) [c](three.md) [d](#one)\n",
      );
      await writeFile(join(root, "docs/two.md"), "# Two\n\n## There\n\n`[e](code.md)` ![f](images/g.png)\n");
      assert.deepEqual(renderSite(root).problems, [
        "docs/README.md: two.md#gone: docs/two.md has no such heading",
        "docs/README.md: three.md: there is no such file",
        "docs/two.md: images/g.png: there is no such file",
      ]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
