import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inTime, until } from "./patience.ts";

describe("a wait in a test", () => {
  const patienceMs = 5;

  it("ends as soon as its condition holds", async () => {
    let looks = 0;
    await until(async () => {
      looks += 1;
      return looks === 3;
    });
    assert.equal(looks, 3);
  });

  it("fails with the text of a condition that never holds, and the line that waited", async () => {
    const served = 0;
    await assert.rejects(
      until(() => served > 0, { patienceMs }),
      {
        message: /^Still not so after 0\.005 s: \(\) => served > 0$/,
        stack: /patience\.test/,
      },
    );
  });

  it("fails although the condition itself is never answered", async () => {
    const what = () => "an answer";
    await assert.rejects(
      until(() => new Promise(() => {}), { patienceMs, what }),
      /: an answer$/,
    );
  });

  it("fails as the condition does", async () => {
    const refused = new Error("refused");
    await assert.rejects(
      until(() => Promise.reject(refused)),
      refused,
    );
  });

  it("passes on what comes in time", async () => {
    assert.equal(await inTime(Promise.resolve("here"), () => "a word"), "here");
  });
});
