import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forbiddenHeader, isHeaderName, isHeaderValue } from "../../src/domain/header.ts";
import { findForbiddenHeader, mergeHeaders } from "../../src/outbound/headers.ts";

describe("merging headers", () => {
  it("prefers the caller's header in any letter case", () => {
    assert.deepEqual(mergeHeaders({ "user-agent": "ours" }, { "User-Agent": "theirs" }), [
      "User-Agent",
      "theirs",
    ]);
  });

  it("prefers the last of several layers", () => {
    assert.deepEqual(mergeHeaders({ a: "1", b: "1" }, { A: "2" }, {}), ["A", "2", "b", "1"]);
  });

  it("keeps headers that only one layer has", () => {
    assert.deepEqual(mergeHeaders({ a: "1" }, { b: "2" }), ["b", "2", "a", "1"]);
  });

  it("sends a name once even when a layer has it in two spellings", () => {
    assert.deepEqual(mergeHeaders({}, { "X-A": "1", "x-a": "2" }), ["X-A", "1"]);
  });

  it("keeps a header named __proto__", () => {
    const callers: Record<string, string> = JSON.parse('{"__proto__":"1"}');
    assert.deepEqual(mergeHeaders({}, callers), ["__proto__", "1"]);
  });
});

describe("header validation", () => {
  it("forbids hop-by-hop headers, Host, Content-Length and Expect in any letter case", () => {
    const names = [
      "Connection",
      "Keep-Alive",
      "Proxy-Connection",
      "Proxy-Authenticate",
      "Proxy-Authorization",
      "TE",
      "Trailer",
      "Transfer-Encoding",
      "Upgrade",
      "HOST",
      "content-length",
      "Expect",
    ];
    for (const name of names) assert.equal(forbiddenHeader(name), true, name);
    for (const name of ["Authorization", "Content-Type", "X-Host", "User-Agent"]) {
      assert.equal(forbiddenHeader(name), false, name);
    }
  });

  it("names the forbidden header it found", () => {
    assert.equal(findForbiddenHeader({ Accept: "*/*", "Transfer-Encoding": "chunked" }), "transfer-encoding");
    assert.equal(findForbiddenHeader({ Accept: "*/*" }), null);
  });

  it("accepts only tokens as names", () => {
    for (const name of ["X-Id", "a", "x_y", "!#$%&'*+-.^_`|~09"])
      assert.equal(isHeaderName(name), true, name);
    for (const name of ["", "x y", "x:", "x\r\n", "é", "x\0", "(x)", "x\n"]) {
      assert.equal(isHeaderName(name), false, JSON.stringify(name));
    }
  });

  it("accepts only visible characters with inner spaces or tabs as values", () => {
    for (const value of ["", "a", "a b", "a\tb", "é", "Bearer x.y-z", "!~"]) {
      assert.equal(isHeaderValue(value), true, JSON.stringify(value));
    }
    for (const value of [" a", "a ", "\ta", "a\t", " ", "a\r\nb: c", "a\n", "a\0b", "\x7f", "日", "\u2028"]) {
      assert.equal(isHeaderValue(value), false, JSON.stringify(value));
    }
  });
});
