import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorExcerpt } from "../../src/domain/error-excerpt.ts";

describe("errorExcerpt", () => {
  it("finds the message of a JSON error, the most specific field first", () => {
    const cases: readonly [unknown, string | null][] = [
      [{ error: { message: "Card declined", code: "card_declined" }, message: "no" }, "Card declined"],
      [{ message: "Rate limit exceeded", detail: "no" }, "Rate limit exceeded"],
      [{ detail: "Not found", error: "no" }, "Not found"],
      [{ error: "invalid_grant" }, "invalid_grant"],
      [{ detail: [{ loc: ["body"], msg: "field required" }] }, "field required"],
      [{ message: "", title: "Bad request" }, "Bad request"],
      [{ code: 7 }, '{"code":7}'],
    ];
    for (const [body, excerpt] of cases) assert.equal(errorExcerpt(JSON.stringify(body)), excerpt);
  });

  it("returns the title of an HTML page, or its text without tags", () => {
    assert.equal(
      errorExcerpt("<html><head><title>502 Bad Gateway</title></head><h1>x</h1>"),
      "502 Bad Gateway",
    );
    assert.equal(errorExcerpt("<h1>Service</h1>\n<p>unavailable</p>"), "Service unavailable");
  });

  it("returns other text as one line without control characters", () => {
    assert.equal(errorExcerpt(" out of\r\n\u0000 order \u001b[31m"), "out of order [31m");
    assert.equal(errorExcerpt(" \n"), null);
    for (const body of ["", "{}", "[]", "null"]) assert.equal(errorExcerpt(body), null);
  });

  it("returns at most 200 characters and splits none", () => {
    assert.equal(errorExcerpt("a".repeat(200)), "a".repeat(200));
    assert.equal(errorExcerpt("a".repeat(201)), `${"a".repeat(199)}…`);
    const bells = errorExcerpt(JSON.stringify({ message: "🔔".repeat(500) })) ?? "";
    assert.deepEqual([[...bells].length, Buffer.from(bells).toString() === bells], [200, true]);
  });

  it("returns the beginning of a body that is too long to be parsed", () => {
    const body = JSON.stringify({ message: "Hidden", rest: "x".repeat(20_000) });
    assert.match(errorExcerpt(body) ?? "", /^\{"message":"Hidden","rest":"x+…$/);
    assert.equal([...(errorExcerpt("<".repeat(1_000_000)) ?? "")].length <= 200, true);
  });
});
