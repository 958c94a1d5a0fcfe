import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isHeaderValue } from "../../src/domain/header.ts";
import { createRedactor } from "../../src/domain/redaction/redaction.ts";
import { Secret } from "../../src/domain/secret.ts";
import { readText } from "../../src/outbound/response-text.ts";

const redactor = (...values: string[]) => createRedactor(values.map((value) => new Secret(value))).redact;

/**
 * Any value that the vault takes and that cannot be made up of our own mark. It may look as if it were escaped itself,
 * in one way: a text in which several such ways meet has no one meaning.
 */
const ordinary = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(..."abcXYZ019-_.~") },
  { weight: 3, arbitrary: fc.constantFrom(..." !\"#$'()+,/:;<=>?@[]^`{|}\t") },
  { weight: 1, arbitrary: fc.integer({ min: 0x80, max: 0xff }).map((code) => String.fromCharCode(code)) },
);
const misleading = [
  ["%", "%41", "%2541", "%zz"],
  ["\\", "\\n", "\\u0041", '\\"'],
  ["&", "&amp;", "&#65;", "&amp"],
];
const value = fc
  .constantFrom(...misleading)
  .chain((units) =>
    fc.array(
      fc.oneof({ weight: 6, arbitrary: ordinary }, { weight: 1, arbitrary: fc.constantFrom(...units) }),
      {
        minLength: 8,
        maxLength: 60,
      },
    ),
  )
  .map((characters) => characters.join("").trim())
  .filter((text) => text.length >= 8 && isHeaderValue(text));

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const asciiJson = (text: string) =>
  json(text).replace(/[\x7f-\xff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
const phpJson = (text: string) => json(text).replaceAll("/", "\\/");
const form = (text: string) => new URLSearchParams({ a: text }).toString().slice(2);
const html = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
const percentBytes = (text: string) =>
  Array.from(Buffer.from(text, "latin1"), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

/** How something that repeats what it was sent may write it. */
const ESCAPES: Record<string, (text: string) => string> = {
  "as it is": (text) => text,
  encodeURIComponent: encodeURIComponent,
  "encodeURIComponent, lower case": (text) =>
    encodeURIComponent(text).replace(/%../g, (each) => each.toLowerCase()),
  "every byte percent-encoded": percentBytes,
  "a form": form,
  "a form in a form": (text) => form(form(text)),
  JSON: json,
  "JSON in ASCII": asciiJson,
  "JSON with escaped slashes": phpJson,
  "JSON in JSON": (text) => json(json(text)),
  "JSON in JSON in JSON": (text) => json(json(json(text))),
  "a URL in JSON": (text) => phpJson(encodeURIComponent(text)),
  "JSON in a form": (text) => form(json(text)),
  HTML: html,
  "HTML in JSON": (text) => json(html(text)),
};
const ENCODINGS: Record<string, (text: string) => string> = {
  base64: (text) => Buffer.from(text, "latin1").toString("base64"),
  "base64 of UTF-8": (text) => Buffer.from(text, "utf8").toString("base64"),
  base64url: (text) => Buffer.from(text, "latin1").toString("base64url"),
  "base64 in a form": (text) => form(Buffer.from(text, "latin1").toString("base64")),
  "base64 in JSON with escaped slashes": (text) => phpJson(Buffer.from(text, "latin1").toString("base64")),
  hexadecimal: (text) => Buffer.from(text, "latin1").toString("hex"),
  "hexadecimal, upper case": (text) => Buffer.from(text, "utf8").toString("hex").toUpperCase(),
};

const edge = fc.constantFrom(" ", '"', "=", ":", ">", "\n", "(");
const around = fc.string({ unit: fc.constantFrom(..."abc {}<>:,\"'\n\u20ac") });

describe("redaction", () => {
  for (const [name, spell] of Object.entries({ ...ESCAPES, ...ENCODINGS })) {
    it(`removes a credential in ${name} (promise G)`, () => {
      fc.assert(
        fc.property(value, around, edge, around, (secret, before, mark, after) => {
          const out = redactor(secret)(`${before}${mark}${spell(secret)}${mark}${after}`);

          assert.ok(out.includes("***"), out);
          assert.ok(!out.includes(spell(secret)), out);
          assert.ok(!out.includes(secret), out);
        }),
        { numRuns: 150 },
      );
    });
  }

  it("replaces the credential and nothing around it", () => {
    fc.assert(
      fc.property(value, fc.constantFrom(...Object.values(ESCAPES)), (secret, spell) => {
        assert.equal(redactor(secret)(`<<${spell(secret)}>>`), "<<***>>");
      }),
    );
    // The backslash at its end belongs to it, and does not escape the quote of the attribute it stands in.
    assert.equal(redactor("a\\>aaaa\\")('"a\\&gt;aaaa\\"'), '"***"');
  });

  it("removes a credential at any place in a longer base64 text (promise G)", () => {
    fc.assert(
      fc.property(value, fc.uint8Array(), fc.uint8Array(), fc.boolean(), (secret, before, after, url) => {
        const bytes = Buffer.concat([before, Buffer.from(secret, "latin1"), after]);
        const out = redactor(secret)(bytes.toString(url ? "base64url" : "base64"));

        assert.ok(out.includes("***"), out);
        for (const piece of out.split("***")) {
          for (const shift of [0, 1, 2, 3]) {
            const decoded = Buffer.from(piece.slice(shift), "base64").toString("latin1");
            assert.ok(!decoded.includes(secret), out);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it("removes each of two credentials, even if one is part of the other (promise G)", () => {
    fc.assert(
      fc.property(value, value, around, (first, second, between) => {
        const out = redactor(first, second, first + second)(`${first}${second}${between}${second}${first}`);

        assert.ok(!out.includes(first) && !out.includes(second), out);
      }),
    );
  });

  it("removes the beginning of a credential at the end of a truncated text (promise G)", () => {
    const spellings = ["as it is", "encodeURIComponent", "a form", "JSON", "JSON in ASCII", "HTML"];
    fc.assert(
      fc.property(value, fc.constantFrom(...spellings), fc.nat(), (secret, name, at) => {
        const spelled = ESCAPES[name]?.(secret) ?? "";
        // Four characters, each of them spelled in six.
        const length = Math.min(24 + (at % 100), spelled.length);
        const out = redactor(secret)(`<<${spelled.slice(0, length)}`, { cut: true });

        if (length >= 24) assert.equal(out, "<<***");
      }),
      { numRuns: 200 },
    );
    assert.equal(redactor("sk-12345678")("key: sk-1", { cut: true }), "key: ***");
    assert.equal(redactor("sk-12345678")("key: sk-", { cut: true }), "key: sk-");
    assert.equal(redactor("sk-12345678")("key: sk-1"), "key: sk-1");
  });

  it("leaves a text without a credential unchanged", () => {
    fc.assert(
      fc.property(value, fc.string({ unit: "binary" }), (secret, text) => {
        fc.pre(!text.includes(secret));
        assert.equal(redactor(secret)(text), text);
      }),
    );
    assert.equal(redactor()("anything"), "anything");
  });

  it("removes the credential without its scheme, such as Bearer", () => {
    const redact = redactor("Bearer sk-12345678");

    assert.equal(redact('{"error":"Incorrect API key: sk-12345678"}'), '{"error":"Incorrect API key: ***"}');
    assert.equal(redact("Authorization: Bearer sk-12345678"), "Authorization: ***");
    assert.equal(redact("authorization=bearer%20sk-12345678"), "authorization=bearer%20***");
  });

  it("removes the password of Basic, and a key in place of the user name", () => {
    const basic = (pair: string) => redactor(`Basic ${Buffer.from(pair).toString("base64")}`);

    assert.equal(basic("tom:correct-horse")("tom, correct-horse is wrong"), "tom, *** is wrong");
    assert.equal(basic("sk_live_12345:")("No such key: sk_live_12345"), "No such key: ***");
    assert.equal(basic("sk_live_12345:x")("No such key: sk_live_12345"), "No such key: ***");
  });

  it("removes a short credential only where it stands alone", () => {
    assert.equal(redactor("abc")("abc"), "***");
    assert.equal(redactor("abc")(" abc\n"), "***");
    assert.equal(redactor("abc")("abcdef abc"), "abcdef abc");
    assert.equal(redactor("abcd")("xabcdx"), "x***x");
    assert.equal(redactor("abcd")("YWJjZA== 61626364"), "***== ***");
    assert.equal(redactor("abcd")("xYWJjZA 9961626364"), "xYWJjZA 9961626364");
    assert.equal(redactor("")("anything"), "anything");
  });

  it("removes a credential in base64 with line breaks (promise G)", () => {
    fc.assert(
      fc.property(
        value,
        fc.uint8Array(),
        fc.constantFrom(64, 76, 20),
        fc.boolean(),
        (secret, before, width, inJson) => {
          const base64 = Buffer.concat([before, Buffer.from(secret, "latin1")]).toString("base64");
          const lines = base64.replace(new RegExp(`.{${width}}`, "g"), "$&\r\n");
          const out = redactor(secret)(inJson ? json(lines) : lines);
          assert.ok(out.includes("***"), out);
        },
      ),
    );
    assert.equal(redactor("sk-12345678")("sk-1234\n5678"), "***");
  });

  it("removes a credential in UTF-16, as text, base64 or hexadecimal (promise G)", () => {
    fc.assert(
      fc.property(value, fc.uint8Array(), fc.boolean(), (secret, before, isBigEndian) => {
        const utf16 = Buffer.from(secret, "utf16le");
        const bytes = isBigEndian ? utf16.swap16() : utf16;
        // As answers are stored: NUL is replaced.
        const text = bytes.toString("latin1").replaceAll("\0", "\ufffd");
        assert.ok(redactor(secret)(`<${text}>`).includes("***"));
        const base64 = Buffer.concat([before, bytes]).toString("base64");
        assert.ok(redactor(secret)(base64).includes("***"), base64);
        const hex = bytes.toString("hex");
        assert.ok(redactor(secret)(`<${hex}>`).includes("***"), hex);
        assert.ok(redactor(secret)(`<${hex.toUpperCase()}>`).includes("***"), hex);
      }),
    );
  });

  it("removes a credential with letters beyond ASCII from an answer in UTF-16", () => {
    const secret = "sk_livé_abc123456";
    for (const isBigEndian of [false, true]) {
      const bytes = Buffer.from(`{"echo":"${secret}"}`, "utf16le");
      const text = redactor(secret)(readText(isBigEndian ? bytes.swap16() : bytes));
      assert.ok(text.includes("***"), text);
      assert.ok(!text.replaceAll("\ufffd", "").includes("abc123456"), text);
    }
  });

  it("removes a credential of thousands of characters in every encoding (promise G)", () => {
    const secret = Array.from({ length: 700 }, (_, index) => `${index}+/"é`).join("");
    for (const [name, spell] of Object.entries({ ...ESCAPES, ...ENCODINGS })) {
      const out = redactor(secret)(`{"echo":"${spell(secret)}","more":"text"}`);
      // The last characters of base64 mix the credential's last bits with what follows.
      assert.match(out, /^\{"echo":"\*{3}.{0,2}(=|%3D)?","more":"text"\}$/, name);
    }
    // In a long text its first 256 characters are enough, and what follows is wiped up to the length of the whole.
    const long = "-".repeat(4_000);
    assert.equal(redactor(secret)(`${long}<${secret.slice(0, 300)}>`), `${long}<***`);
    assert.equal(redactor(secret)(`${long}<${secret.slice(0, 200)}>`), `${long}<${secret.slice(0, 200)}>`);
  });

  it("takes at most five times as long for fifty credentials as for one", () => {
    const text = "sk_live_%41 \\u0041 YWJj".repeat(50_000);
    // Of the processor: the machine may be busy.
    const spentMs = (count: number) => {
      const redact = redactor(
        ...Array.from({ length: count }, (_, index) => `Bearer sk_live_0123456789abcdef${index}`),
      );
      const before = process.cpuUsage();
      redact(text);
      return process.cpuUsage(before).user / 1000;
    };
    spentMs(1);
    // What else the process does, such as collecting garbage, comes on top: the least of three is the closest.
    const leastMs = (count: number) => Math.min(spentMs(count), spentMs(count), spentMs(count));
    const [one, fifty] = [leastMs(1), leastMs(50)];
    assert.ok(fifty < 5 * one + 100, `${one} ms, ${fifty} ms`);
  });

  it("takes time in proportion to the length of the text", () => {
    const long = 1024 * 1024;
    // Of the processor: the machine may be busy.
    const before = process.cpuUsage();
    for (const secret of [`${"a".repeat(8191)}b`, `b${"a".repeat(8191)}`, "a".repeat(8192)]) {
      for (const text of ["a", "%61", "\\u0061", "&#97;", "YWFh", "6161"]) {
        redactor(secret)(text.repeat(long / text.length), { cut: true });
      }
    }
    // The product of the lengths would take minutes; this takes about two seconds.
    assert.ok(process.cpuUsage(before).user < 20_000_000);
  });
});
