import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isCallUrl } from "../../src/domain/call.ts";

describe("isCallUrl", () => {
  it("refuses a URL with credentials, however it is written", () => {
    const piece = fc.constantFrom(
      "http",
      "HTTPS",
      ":",
      "/",
      "\\",
      "@",
      "?",
      "#",
      "a",
      "b.example",
      "%40",
      "\t",
      ".",
      "[",
      "]",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `http:/${pieces.join("")}`;
        if (!isCallUrl(text)) return;
        const { protocol, username, password, hostname } = new URL(text);

        assert.match(protocol, /^https?:$/);
        assert.deepEqual([username, password], ["", ""]);
        assert.notEqual(hostname, "");
      }),
      { numRuns: 5000 },
    );
  });
});
