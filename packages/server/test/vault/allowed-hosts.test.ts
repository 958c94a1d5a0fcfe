import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mayBeSentTo, parseAllowedHost, vaultReferences } from "../../src/domain/vault-token.ts";

describe("allowed hosts", () => {
  it("are host names with an optional port or leading wildcard, normalized", () => {
    const good: [string, string][] = [
      ["api.example.com", "api.example.com"],
      ["API.Example.com.", "api.example.com"],
      ["api.example.com:8443", "api.example.com:8443"],
      ["*.example.com", "*.example.com"],
      ["*.example.com:443", "*.example.com:443"],
      ["localhost", "localhost"],
      ["127.0.0.1:80", "127.0.0.1:80"],
      ["0x7f.1", "127.0.0.1"],
      ["[::1]:80", "[::1]:80"],
      ["[0:0::1]", "[::1]"],
      ["bücher.example", "xn--bcher-kva.example"],
    ];
    for (const [text, parsed] of good) assert.equal(parseAllowedHost(text), parsed, text);
    const bad = [
      "",
      "*",
      "*.",
      "*.*.com",
      "a.*.com",
      "https://api.example.com",
      "api.example.com/",
      "api.example.com/path",
      "api.example.com?x",
      "user@api.example.com",
      "api.example.com:",
      "api.example.com:0",
      "api.example.com:65536",
      "api.example.com:http",
      "api example.com",
      " api.example.com",
      "api.example.com\n",
      "a,b",
      "*.127.0.0.1",
      "*.[::1]",
      "::1",
      "%61pi.example.com",
      "a\u0000b",
      `${"a".repeat(300)}.com`,
      ".",
    ];
    for (const text of bad) assert.equal(parseAllowedHost(text), null, JSON.stringify(text));
  });

  it("limit where a token may be sent", () => {
    const cases: [string[] | null, string, boolean][] = [
      [null, "https://anywhere.example/", true],
      [[], "https://anywhere.example/", false],
      [["api.example.com"], "https://api.example.com/v1", true],
      [["api.example.com"], "https://API.EXAMPLE.COM./v1", true],
      [["api.example.com"], "http://api.example.com:8080/", true],
      [["api.example.com"], "https://example.com/", false],
      [["api.example.com"], "https://x.api.example.com/", false],
      [["api.example.com"], "https://api.example.com.evil.example/", false],
      [["api.example.com"], "https://evil.example/api.example.com", false],
      [["api.example.com"], "https://api.example.com@evil.example/", false],
      [["api.example.com"], "https://evil.example#api.example.com", false],
      [["api.example.com:443"], "https://api.example.com/", true],
      [["api.example.com:443"], "http://api.example.com/", false],
      [["api.example.com:80"], "http://api.example.com/", true],
      [["api.example.com:8443"], "https://api.example.com:8443/", true],
      [["api.example.com:8443"], "https://api.example.com/", false],
      [["*.example.com"], "https://api.example.com/", true],
      [["*.example.com"], "https://a.b.example.com/", true],
      [["*.example.com"], "https://example.com/", false],
      [["*.example.com"], "https://evilexample.com/", false],
      [["*.1"], "http://127.0.0.1/", false],
      [["127.0.0.1"], "http://2130706433/", true],
      [["[::1]:81"], "http://[0::1]:81/", true],
      [["a.example", "b.example"], "https://b.example/", true],
      [["a.example"], "not a URL", false],
    ];
    for (const [hosts, url, expected] of cases) {
      assert.equal(mayBeSentTo(hosts, url), expected, `${hosts} ${url}`);
    }
  });

  it("apply to headers whose value starts with tok_", () => {
    assert.deepEqual(vaultReferences({ A: "tok_1", B: "Bearer tok_2", C: "TOK_3", D: "tok_" }), [
      { header: "A", tokenId: "tok_1" },
      { header: "D", tokenId: "tok_" },
    ]);
  });
});
