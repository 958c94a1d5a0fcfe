import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { readPageFiles } from "../../src/api/pages/page-files.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("the documentation at /help", () => {
  let api: TestApi;
  let directory: string;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "bellhop-help-"));
    mkdirSync(join(directory, "decisions"));
    const put = (name: string, bytes: string | Buffer) => writeFileSync(join(directory, name), bytes);
    put("index.html", "<!doctype html><title>Documentation</title>");
    put("vault.html", "<!doctype html><title>The vault</title>");
    put("vault.html.gz", gzipSync("<!doctype html><title>The vault</title>"));
    put("decisions/0001.html", "<!doctype html><title>Words</title>");
    put("help.js", "search()");
    put("llms.txt", "# Bellhop\n\n- [The vault](/help/vault)\n");
    const help = readPageFiles(directory);
    assert.ok(help);
    api = await createTestApi({ help });
  });
  after(async () => {
    await api.close();
    rmSync(directory, { recursive: true });
  });

  it("serves its first page at /help without a credential, with or without a final slash", async () => {
    for (const url of ["/help", "/help/", "/help?a=b"])
      assert.match((await api.send({ url })).text, /<title>Documentation/, url);
  });

  it("serves a page under its name without .html, compressed if the browser accepts it", async () => {
    assert.match((await api.send({ url: "/help/vault?a=b" })).text, /<title>The vault/);
    assert.match((await api.send({ url: "/help/decisions/0001" })).text, /<title>Words/);
    const packed = await api.send({ url: "/help/vault", headers: { "accept-encoding": "gzip" } });
    assert.deepEqual([packed.status, packed.headers["content-encoding"]], [200, "gzip"]);
    const tag = String(packed.headers.etag);
    assert.equal((await api.send({ url: "/help/vault", headers: { "if-none-match": tag } })).status, 304);
  });

  it("allows scripts only from this server", async () => {
    const { headers } = await api.send({ url: "/help/vault" });
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|http|\*/);
    const script = await api.send({ url: "/help/help.js" });
    assert.equal(script.headers["content-type"], "text/javascript; charset=utf-8");
  });

  it("answers 404 for unknown pages and for files outside its directory", async () => {
    for (const url of [
      "/help/nothing",
      "/help/vault.html",
      "/help/vault.html.gz",
      "/help/../package.json",
      "/help/%2e%2e/x",
    ])
      assert.equal((await api.send({ url, headers: { accept: "text/html" } })).status, 404, url);
  });

  it("lists its pages for programs at /llms.txt, as text whatever the client accepts", async () => {
    const headers = { accept: "text/html,*/*;q=0.8" };
    for (const url of ["/llms.txt", "/llms.txt?a=b", "/help/llms.txt"]) {
      const answer = await api.send({ url, headers });
      assert.deepEqual(
        [answer.status, answer.headers["content-type"]],
        [200, "text/plain; charset=utf-8"],
        url,
      );
      assert.match(answer.text, /^# Bellhop\n\n- \[The vault\]/);
    }
    const bare = await (await createTestApi()).send({ url: "/llms.txt", headers });
    assert.deepEqual([bare.status, bare.headers["content-type"]], [200, "text/plain; charset=utf-8"]);
    assert.match(bare.text, /^# Bellhop\n.*\/openapi\.json/s);
  });

  it("tells what to run when it is not built", async () => {
    const { status, text } = await (await createTestApi()).send({ url: "/help/" });
    assert.equal(status, 200);
    assert.match(text, /not built here.*Run <code>npm run build<\/code>/s);
  });
});
