import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { Principal } from "../../../src/domain/identity/principal.ts";
import { Problem, type ProblemCode } from "../../../src/domain/problem.ts";
import { type AuthService, createAuthService } from "../../../src/service/access/auth-service.ts";
import { createFailureLimit } from "../../../src/service/access/failure-limit.ts";
import { principalOf } from "../../test-principal.ts";
import { createGate, databaseAway } from "../../test-sql.ts";

const ADDRESS = "192.0.2.1";
const VALID = `bh_live_${"v".repeat(40)}`;
const guess = (number: number) => `bh_live_${String(number).padStart(40, "0")}`;

describe("authentication", () => {
  let nowMs: number;
  let auth: AuthService;
  /** The credentials that were looked for, in order. */
  let looks: string[];
  let keys: Map<string, Principal>;
  let before: () => Promise<void>;
  beforeEach(() => {
    nowMs = 1000;
    looks = [];
    keys = new Map([[VALID, principalOf(1)]]);
    before = async () => {};
    const monotonicMs = () => nowMs;
    const look = async (credential: string) => {
      looks.push(credential);
      await before();
      return keys.get(credential) ?? null;
    };
    auth = createAuthService({
      findKey: look,
      findToken: look,
      failures: createFailureLimit({ monotonicMs }),
      monotonicMs,
    });
  });

  const authenticate = (credential: string, address = ADDRESS) => auth.authenticate(credential, address);
  /** What became of it: null, or why not. */
  const outcome = async (credential: string, address = ADDRESS): Promise<ProblemCode | null> => {
    try {
      await authenticate(credential, address);
      return null;
    } catch (error) {
      assert.ok(error instanceof Problem);
      return error.code;
    }
  };
  const tally = (outcomes: readonly (ProblemCode | null)[]) => {
    const counts: Record<string, number> = {};
    for (const each of outcomes) counts[each ?? "accepted"] = (counts[each ?? "accepted"] ?? 0) + 1;
    return counts;
  };

  it("caches a credential for one second", async () => {
    const principal = await authenticate(VALID);
    nowMs += 999;
    assert.equal(auth.recall(VALID), principal);
    nowMs += 1;
    assert.equal(auth.recall(VALID), null);
    keys.delete(VALID);
    assert.equal(await outcome(VALID), "api_key_invalid");
  });

  it("evicts the least recently used credential from its cache first", async () => {
    for (let number = 0; number < 10_000; number += 1) keys.set(guess(number), principalOf(1));
    const principal = await authenticate(VALID);
    for (let number = 1; number < 10_000; number += 1) await authenticate(guess(number));
    nowMs += 1000;
    await authenticate(VALID);
    await authenticate(guess(0));

    assert.equal(auth.recall(VALID), principal);
  });

  it("refuses invalid credentials of a source with 429 after 60 failures in 60 seconds", async () => {
    for (let failure = 0; failure < 60; failure += 1) {
      const credential = failure % 3 === 0 ? "nonsense" : failure % 3 === 1 ? guess(failure) : "a.b.c";
      assert.equal(await outcome(credential), credential === "a.b.c" ? "token_invalid" : "api_key_invalid");
    }
    nowMs += 20_500;
    for (const credential of ["nonsense", guess(99), "a.b.c"]) {
      await assert.rejects(
        authenticate(credential),
        (error) => error instanceof Problem && error.status === 429 && error.retryAfterSeconds === 40,
      );
    }
    assert.equal(await outcome(VALID, "192.0.2.2"), null);
    nowMs += 39_500;
    assert.equal(await outcome(guess(100)), "api_key_invalid");
  });

  it("limits a flood of concurrent guesses, with at most two lookups at a time", async () => {
    let underWay = 0;
    let most = 0;
    before = async () => {
      underWay += 1;
      if (looks.length > 60) most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
    };
    const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, number) => outcome(guess(number))));

    assert.deepEqual(tally(outcomes), { api_key_invalid: 60, rate_limited: 940 });
    assert.equal(most, 2);
  });

  it("accepts 500 concurrent requests with different valid credentials", async () => {
    for (let number = 0; number < 500; number += 1) keys.set(guess(number), principalOf(1));

    const outcomes = await Promise.all(Array.from({ length: 500 }, (_, number) => outcome(guess(number))));
    assert.deepEqual(tally(outcomes), { accepted: 500 });
  });

  it("makes one lookup for many concurrent requests with one credential", async () => {
    const outcomes = await Promise.all(Array.from({ length: 300 }, () => outcome(VALID)));

    assert.deepEqual(tally(outcomes), { accepted: 300 });
    assert.deepEqual(looks, [VALID]);
  });

  describe("in a flood from the same address", () => {
    const flood = () => Promise.all(Array.from({ length: 100 }, (_, number) => outcome(guess(number))));

    it("accepts a valid credential that it has not seen before", async () => {
      await flood();
      assert.equal(await outcome(VALID), null);
    });

    it("accepts valid credentials during the flood, with little delay for other addresses", async () => {
      await flood();
      const other = guess(999_999);
      keys.set(other, principalOf(2));
      for (let failure = 0; failure < 60; failure += 1) await outcome("nonsense", "192.0.2.2");
      looks.length = 0;
      const storm = Promise.all(Array.from({ length: 500 }, (_, number) => outcome(guess(1000 + number))));
      const [here, elsewhere] = [outcome(VALID), outcome(other, "192.0.2.2")];

      assert.equal(await elsewhere, null);
      assert.ok(looks.length < 10, `${looks.length} looks came first`);
      assert.equal(await here, null);
      assert.deepEqual(tally(await storm), { rate_limited: 500 });
    });

    it("accepts a known credential while it looks it up again", async () => {
      await authenticate(VALID);
      await flood();
      nowMs += 1500;
      const gate = createGate();
      before = gate.wait;
      const first = outcome(VALID);
      await gate.reached;
      const second = outcome(VALID);
      gate.open();

      assert.deepEqual([await first, await second], [null, null]);
    });

    it("accepts a known credential after the database was away", async () => {
      await authenticate(VALID);
      await flood();
      nowMs += 1500;
      before = async () => {
        throw databaseAway();
      };
      assert.equal(await outcome(VALID), "database_away");
      before = async () => {};
      assert.equal(await outcome(VALID), null);
    });

    it("refuses a known credential once it has ended", async () => {
      await authenticate(VALID);
      await flood();
      nowMs += 1500;
      keys.delete(VALID);
      assert.equal(await outcome(VALID), "api_key_invalid");
      assert.equal(await outcome(VALID), "rate_limited");
    });
  });

  it("does not count a lookup that fails by the database as a failure of the source", async () => {
    before = async () => {
      throw databaseAway();
    };
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, number) => outcome(guess(number))));
    assert.deepEqual(tally(outcomes), { database_away: 200 });
    before = async () => {};
    assert.equal(await outcome(VALID), null);
  });

  it("does not cache a lookup that began before a recheck", async () => {
    const gate = createGate();
    before = gate.wait;
    const looking = authenticate(VALID);
    await gate.reached;
    auth.recheck();
    gate.open();
    await looking;

    assert.equal(auth.recall(VALID), null);
  });
});
