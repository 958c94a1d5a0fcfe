import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sourceOf } from "../../src/domain/identity/source-address.ts";

describe("the source for rate limits", () => {
  for (const [address, source] of [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:4711", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::6]:4711", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::6]", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ] as const) {
    it(`is ${source} for ${address}`, () => assert.equal(sourceOf(address), source));
  }
});
