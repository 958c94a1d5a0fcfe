import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { type SealContext, SealError, seal, sealingKeyOf, unseal } from "../../src/vault/cipher.ts";
import { parseKeyRing } from "../../src/vault/key-ring.ts";

const newKey = () => randomBytes(32).toString("base64");
const oldKey = newKey();
const ring = parseKeyRing(`new:${newKey()},old:${oldKey}`);
const context: SealContext = { purpose: "token", teamId: 1, id: "0190a5d0" };

describe("the cipher", () => {
  it("decrypts any text that it encrypted", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        assert.equal(unseal(ring, context, seal(ring.sealing, context, text)), text);
      }),
    );
  });

  it("reveals only the length of the text, and never encrypts the same way twice", () => {
    const text = "sk_live_canary";
    const [first, second] = [seal(ring.sealing, context, text), seal(ring.sealing, context, text)];

    assert.ok(!first.includes(text));
    assert.notDeepEqual(first, second);
    // Version, id, nonce and tag: the length of the text shows, and nothing else.
    assert.equal(first.length, 2 + "new".length + 12 + text.length + 16);
  });

  it("finds the key that encrypted a text", () => {
    const byOld = seal(parseKeyRing(`old:${oldKey}`).sealing, context, "text");

    assert.equal(sealingKeyOf(byOld), "old");
    assert.equal(unseal(ring, context, byOld), "text");
  });

  it("refuses a ciphertext of another row, team or purpose", () => {
    const sealed = seal(ring.sealing, context, "text");
    const others: SealContext[] = [
      { ...context, id: "0190a5d1" },
      { ...context, teamId: 2 },
      { ...context, purpose: "callback" },
      // Joined without a border, 1 and 10190a5d0 would read like 11 and 0190a5d0.
      { ...context, teamId: 10, id: context.id.slice(1) },
    ];
    for (const other of others) assert.throws(() => unseal(ring, other, sealed), SealError);
  });

  it("refuses a ciphertext with a changed, missing or added byte", () => {
    const sealed = seal(ring.sealing, context, "sk_live_canary");
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), (index, flip) => {
        const changed = Buffer.from(sealed);
        changed[index] = (changed[index] ?? 0) ^ flip;
        assert.throws(() => unseal(ring, context, changed), SealError);
      }),
    );
    for (let length = 0; length < sealed.length; length += 1) {
      assert.throws(() => unseal(ring, context, sealed.subarray(0, length)), SealError);
    }
    assert.throws(() => unseal(ring, context, Buffer.concat([sealed, Buffer.alloc(1)])), SealError);
  });

  it("refuses another key, with the same id or another", () => {
    const sealed = seal(ring.sealing, context, "sk_live_canary");
    const impostor = parseKeyRing(`new:${newKey()}`);
    const stranger = parseKeyRing(`other:${newKey()}`);

    assert.throws(() => unseal(impostor, context, sealed), SealError);
    assert.throws(
      () => unseal(stranger, context, sealed),
      /sealed with the key "new", which is not on the ring/,
    );
  });

  it("shows neither text nor key in its errors (promise G)", () => {
    const sealed = seal(ring.sealing, context, "sk_live_canary");
    try {
      unseal(ring, { ...context, teamId: 2 }, sealed);
      assert.fail("It opened");
    } catch (error) {
      const shown = inspect(error, { showHidden: true, depth: 10 });
      assert.ok(!shown.includes("sk_live_canary") && !shown.includes(oldKey), shown);
    }
  });
});
