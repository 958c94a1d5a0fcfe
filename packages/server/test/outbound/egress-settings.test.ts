import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../../src/config.ts";
import { createEgressGuard } from "../../src/outbound/egress-guard.ts";
import { describeEgress } from "../../src/outbound/egress-policy.ts";

const read = (environment: Record<string, string>) => readConfig(environment).egress;

describe("the default egress policy", () => {
  for (const host of ["127.0.0.1", "127.0.0.2", "127.255.255.254", "::1", "localhost", "LOCALHOST"]) {
    it(`is any while the server listens on ${host}`, () => {
      assert.equal(read({ HOST: host }).policy, "any");
    });
  }

  for (const host of ["0.0.0.0", "::", "10.0.0.5", "192.168.1.2", "127.1", "127.evil.test", "bellhop.test"]) {
    it(`is public while the server listens on ${host}`, () => {
      assert.equal(read({ HOST: host }).policy, "public");
    });
  }

  it("is any when HOST is not set", () => {
    assert.equal(read({}).policy, "any");
    assert.equal(read({ HOST: "", BELLHOP_EGRESS: "" }).policy, "any");
  });
});

describe("the egress settings", () => {
  it("override the default that HOST implies", () => {
    assert.equal(read({ BELLHOP_EGRESS: "public" }).policy, "public");
    assert.equal(read({ HOST: "0.0.0.0", BELLHOP_EGRESS: "any" }).policy, "any");
  });

  it("refuse an unknown policy at the start", () => {
    assert.throws(() => read({ BELLHOP_EGRESS: "none" }), {
      name: "ConfigError",
      message: "BELLHOP_EGRESS must be one of public, any",
    });
  });

  it("accept a list with spaces and extra commas", () => {
    const egress = read({ HOST: "0.0.0.0", BELLHOP_EGRESS_ALLOW: " 10.0.0.0/8, app:3000 ,,*.example.com, " });
    assert.deepEqual(egress.allow, ["10.0.0.0/8", "app:3000", "*.example.com"]);
    assert.equal(createEgressGuard(egress).refuseUrl("http://app:3000/"), null);
  });

  it("refuse an invalid entry at the start, by name", () => {
    assert.throws(() => read({ BELLHOP_EGRESS_ALLOW: "10.0.0.0/8,10.0.0.7/8" }), {
      name: "ConfigError",
      message:
        'BELLHOP_EGRESS_ALLOW: "10.0.0.7/8" is not the start of a block; write 10.0.0.0/8 or 10.0.0.7/32',
    });
  });

  it("report that an allow list has no effect under any", () => {
    const config = readConfig({ BELLHOP_EGRESS: "any", BELLHOP_EGRESS_ALLOW: "10.0.0.7" });
    assert.deepEqual(config.withoutEffect, ["BELLHOP_EGRESS_ALLOW"]);
    const strict = readConfig({ BELLHOP_EGRESS: "public", BELLHOP_EGRESS_ALLOW: "10.0.0.7" });
    assert.deepEqual(strict.withoutEffect, []);
  });
});

describe("the egress line of the banner", () => {
  for (const [environment, line] of [
    [{}, "any: calls may go to every address, private ones too (HOST 127.0.0.1 is this machine only)"],
    [
      { HOST: "0.0.0.0" },
      "public: calls to private and reserved addresses are refused (HOST 0.0.0.0 can be reached from outside; BELLHOP_EGRESS says otherwise)",
    ],
    [
      { BELLHOP_PUBLIC_URL: "https://b.example" },
      "public: calls to private and reserved addresses are refused (BELLHOP_PUBLIC_URL https://b.example can be reached from outside; BELLHOP_EGRESS says otherwise)",
    ],
    [
      { BELLHOP_TRUST_PROXY: "127.0.0.1" },
      "public: calls to private and reserved addresses are refused (BELLHOP_TRUST_PROXY names a proxy; BELLHOP_EGRESS says otherwise)",
    ],
    [
      { BELLHOP_EGRESS: "any" },
      "any: calls may go to every address, private ones too (set by BELLHOP_EGRESS)",
    ],
    [
      { BELLHOP_EGRESS: "public", BELLHOP_EGRESS_ALLOW: "10.0.0.0/8,app:3000" },
      "public: calls to private and reserved addresses are refused except 10.0.0.0/8, app:3000 (set by BELLHOP_EGRESS)",
    ],
  ] as const) {
    it(`states the policy and its reason for ${JSON.stringify(environment)}`, () => {
      assert.equal(describeEgress(read(environment)), line);
    });
  }
});
