import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedactor } from "../../src/domain/redaction/redaction.ts";
import { Secret } from "../../src/domain/secret.ts";
import { createWiping } from "../../src/outbound/wiping.ts";

const MEGABYTE = 1_048_576;

/** Works for so many portions and tells of each. */
function* portions(name: string, count: number, log: string[]): Generator<undefined, string, undefined> {
  for (let index = 0; index < count; index += 1) {
    log.push(name);
    const until = performance.now() + 5;
    while (performance.now() < until);
    yield;
  }
  return name;
}

describe("redaction of long texts", () => {
  it("alternates between teams, however much one of them has", async () => {
    const wiping = createWiping();
    const log: string[] = [];
    const much = [1, 2, 3].map((job) => wiping.run(1, portions(`1.${job}`, 2, log)));
    assert.equal(await wiping.run(2, portions("2.1", 2, log)), "2.1");
    assert.deepEqual(await Promise.all(much), ["1.1", "1.2", "1.3"]);
    assert.deepEqual(log, ["1.1", "2.1", "1.1", "2.1", "1.2", "1.2", "1.3", "1.3"]);
  });

  it("yields while it prepares eight secrets of maximum length", () => {
    const secrets = Array.from(
      { length: 8 },
      (_, index) => new Secret(`Bearer ${`${index}a`.repeat(4_000)}`),
    );
    const portions = createRedactor(secrets).redactInPortions("x".repeat(20_000));
    let rests = 0;
    while (portions.next().done !== true) rests += 1;
    // The text alone has two, and each secret has one.
    assert.ok(rests > 10, `${rests} rests`);
  });

  it("yields to the event loop between portions", async () => {
    const wiping = createWiping();
    const secrets = Array.from(
      { length: 50 },
      (_, index) => new Secret(`Bearer sk_live_${index}_0123456789abcdef`),
    );
    const { redactInPortions } = createRedactor(secrets);
    let turns = 0;
    let isDone = false;
    const tick = () => {
      turns += 1;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    await wiping.run(1, redactInPortions("%73k_live_".repeat(MEGABYTE / 10)));
    isDone = true;
    assert.ok(turns > 2, `${turns} turns`);
  });

  it("gives up on a text that takes too long", async () => {
    const wiping = createWiping({ budgetMs: 12 });
    const log: string[] = [];
    assert.equal(await wiping.run(1, portions("endless", 1_000, log)), null);
    // Without a portion: of a busy machine one may take longer than a text is given here.
    assert.equal(await wiping.run(1, portions("next", 0, log)), "next");
  });
});
