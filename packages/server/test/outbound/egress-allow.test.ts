import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAllowList, parseAllowEntry } from "../../src/outbound/egress-allow.ts";

describe("an entry of the allow list", () => {
  for (const [text, expected] of [
    ["10.0.0.7", "10.0.0.7/32 *"],
    ["10.0.0.7:8080", "10.0.0.7/32 8080"],
    ["10.0.0.0/8", "10.0.0.0/8 *"],
    ["10.0.0.0/8:443", "10.0.0.0/8 443"],
    ["10.0.0.7/32", "10.0.0.7/32 *"],
    ["0.0.0.0/0", "0.0.0.0/0 *"],
    ["::1", "::1/128 *"],
    ["[::1]", "::1/128 *"],
    ["[::1]:3000", "::1/128 3000"],
    ["fd00::/8", "fd00::/8 *"],
    ["[fd00::/8]:3000", "fd00::/8 3000"],
    ["FD00:0:0::7", "fd00::7/128 *"],
    ["::/0", "::/0 *"],
    ["::ffff:10.0.0.7", "10.0.0.7/32 *"],
    ["::10.0.0.7", "::a00:7/128 *"],
    ["redis", "redis *"],
    ["my_app:3000", "my_app 3000"],
    ["API.Example.com", "api.example.com *"],
    ["api.example.com.:443", "api.example.com 443"],
    ["bücher.example", "xn--bcher-kva.example *"],
    ["localhost:65535", "localhost 65535"],
    ["*.example.com", "*.example.com *"],
    ["*.internal:80", "*.internal 80"],
  ] as const) {
    it(`may be ${text}`, () => {
      const parsed = parseAllowEntry(text);
      assert.ok(parsed.valid);
      const { entry } = parsed;
      const port = entry.port ?? "*";
      if (entry.kind === "block") assert.equal(`${entry.block}/${entry.prefixLength} ${port}`, expected);
      else assert.equal(`${entry.kind === "name" ? entry.name : `*${entry.suffix}`} ${port}`, expected);
    });
  }

  for (const text of [
    "",
    "*",
    "*.",
    "*:80",
    "*.*",
    "*.*.example.com",
    "a*.example.com",
    "*example.com",
    "api.*.com",
    ".example.com",
    "a..example.com",
    "-a.example.com",
    "a-.example.com",
    "exa mple.com",
    "example.com/path",
    "example.com?x",
    "example.com#x",
    "user@example.com",
    "http://example.com",
    "https://10.0.0.1",
    "example.com:",
    "example.com:http",
    "example.com:80:80",
    "%31%30.0.0.1",
    "10",
    "10/8",
    "10.0/8",
    "10.0.0",
    "10.0.0.0.0",
    "010.0.0.1",
    "0x0a.0.0.1",
    "167772161",
    "0x7f.1:80",
    "１０.0.0.1",
    "10.0.0.256",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/x",
    "10.0.0.0/-1",
    "10.0.0.0/255.0.0.0",
    "10.0.0.1-10.0.0.9",
    "[10.0.0.1]",
    "[10.0.0.1]:80",
    "[example.com]",
    "[::1",
    "::1]",
    "[::1]80",
    "[fd00::]/8",
    "fe80::1%eth0",
    "[fe80::1%eth0]:80",
    "fd00:::/8",
    "\\example.com",
  ]) {
    it(`is refused as ${JSON.stringify(text)}`, () => {
      const parsed = parseAllowEntry(text);
      assert.ok(!parsed.valid);
      assert.ok(parsed.message.startsWith(`"${text}" is not an address (10.0.0.7), a block`), parsed.message);
    });
  }

  for (const [text, message] of [
    ["10.0.0.7/8", '"10.0.0.7/8" is not the start of a block; write 10.0.0.0/8 or 10.0.0.7/32'],
    ["fd00::7/8", '"fd00::7/8" is not the start of a block; write fd00::/8 or fd00::7/128'],
    ["10.0.0.0/33", '"10.0.0.0/33" has a prefix longer than 32'],
    ["fd00::/129", '"fd00::/129" has a prefix longer than 128'],
    ["::ffff:10.0.0.0/104", '"::ffff:10.0.0.0/104" is an IPv4 block in IPv6 spelling; write it as IPv4'],
    ["::ffff:0:0/8", '"::ffff:0:0/8" is an IPv4 block in IPv6 spelling; write it as IPv4'],
    ["10.0.0.7:0", '"10.0.0.7:0" has a port that is not between 1 and 65535'],
    ["example.com:65536", '"example.com:65536" has a port that is not between 1 and 65535'],
  ] as const) {
    it(`is refused as ${text}, with the reason`, () => {
      assert.deepEqual(parseAllowEntry(text), { valid: false, message });
    });
  }
});

describe("a wildcard in the allow list", () => {
  it("matches every name below it, and none with an empty label", () => {
    const list = createAllowList(["*.allowed.example"]);
    for (const name of ["a.allowed.example", "b.a.allowed.example"]) assert.ok(list.hasName(name, 443), name);
    for (const name of [
      "allowed.example",
      ".allowed.example",
      "..allowed.example",
      "a..allowed.example",
      ".a.allowed.example",
      "notallowed.example",
    ])
      assert.ok(!list.hasName(name, 443), name);
  });
});
