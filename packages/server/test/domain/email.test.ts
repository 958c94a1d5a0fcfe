import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readEmail } from "../../src/domain/identity/email.ts";

describe("readEmail", () => {
  it("maps all spellings of an address to one", () => {
    for (const spelling of [
      "ada@example.com",
      " ADA@Example.COM ",
      "ada@EXAMPLE.com",
      "ada@\uff45xample.com",
      "ada@example\u3002com",
      "ada@example\uff0ecom",
    ])
      assert.equal(readEmail(spelling), "ada@example.com", JSON.stringify(spelling));
    assert.equal(readEmail("Jose\u0301@example.com"), readEmail("jos\u00e9@example.com"));
    // The Kelvin sign equals K in a comparison without case: the mail goes to the letter, not to the owner of the sign.
    assert.equal(readEmail("\u212aen@example.com"), "ken@example.com");
  });

  it("converts an internationalized domain to its ASCII name", () => {
    assert.equal(readEmail("ada@M\u00dcNCHEN.example"), "ada@xn--mnchen-3ya.example");
    assert.equal(readEmail("ada@xn--mnchen-3ya.example"), "ada@xn--mnchen-3ya.example");
    // Cyrillic а: another domain, and it shows.
    assert.notEqual(readEmail("ada@ex\u0430mple.com"), readEmail("ada@example.com"));
  });

  it("accepts common and unusual valid addresses", () => {
    for (const address of [
      "a@b.c",
      "ada@localhost",
      "ada.lovelace+bellhop@mail.example.co.uk",
      "o'brien_%!#$&*/=?^`{|}~-@example.com",
      "用户@example.com",
      "ada@1and1.example",
      "ada@3com",
    ])
      assert.equal(readEmail(address), address, address);
  });

  it("refuses an overlong address before it normalizes it", (test) => {
    const normalize = test.mock.method(String.prototype, "normalize");
    assert.equal(readEmail(`a${"\u0301\u0316".repeat(150_000)}@example.com`), null);
    assert.equal(normalize.mock.callCount(), 0);
    assert.equal(readEmail("ada@example.com"), "ada@example.com");
    assert.notEqual(normalize.mock.callCount(), 0, "others are normalized");
  });

  it("refuses text that other programs might read as another address", () => {
    for (const text of [
      "",
      "ada",
      "ada@",
      "@example.com",
      "ada@@example.com",
      "a b@example.com",
      "ada@example.com.",
      "ada@example..com",
      "ada@.example.com",
      "ada@-example.com",
      "ada@example-.com",
      "ada@exa_mple.com",
      "ada@exam%70le.com",
      "ada@example.com/x",
      "ada@example.com?x",
      "ada@example.com#x",
      "ada@example.com:25",
      "ada@127.0.0.1",
      "ada@127.1",
      "ada@0x7f.1",
      "ada@2130706433",
      "ada@[127.0.0.1]",
      "ada@xn--a",
      "ada@exa\u00admple.com",
      "ada@exa\u200bmple.com",
      "ada@exam\u2028ple.com",
      `ada@${"a".repeat(64)}.com`,
      `ada@${"a.".repeat(130)}com`,
      `${"a".repeat(65)}@example.com`,
    ])
      assert.equal(readEmail(text), null, JSON.stringify(text));
  });
});
