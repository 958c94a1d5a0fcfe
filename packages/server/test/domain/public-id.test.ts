import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createUuidSource, formatId, parseId } from "../../src/domain/public-id.ts";

/** As typeid-js 1.2 has spelled them: ids that were given out before must be found for ever. */
const KNOWN = [
  ["01a1e0f8-52d5-733f-b104-0daeb5a0566d", "01m7gfgmpneczv210dnttt0nkd"],
  ["019a7e3a-75c5-7a31-a98f-db2dbf745c4d", "01k9z3mxe5f8rtk3yv5pzq8q2d"],
  ["00112233-4455-6677-8899-aabbccddeeff", "0024h36h2ncsvrh6daqf6dvvqz"],
  ["80000000-0000-4000-8000-000000000001", "40000000008008000000000001"],
  ["00000000-0000-0000-0000-000000000000", "00000000000000000000000000"],
  ["ffffffff-ffff-ffff-ffff-ffffffffffff", "7zzzzzzzzzzzzzzzzzzzzzzzzz"],
] as const;

describe("a public id", () => {
  it("has the same spelling as in earlier releases", () => {
    for (const [uuid, digits] of KNOWN) {
      assert.equal(formatId("task", uuid), `task_${digits}`);
      assert.equal(parseId("task", `task_${digits}`), uuid);
      assert.equal(formatId("tok", uuid), `tok_${digits}`);
    }
  });

  it("converts back to any UUID, and sorts like it", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (one, other) => {
        assert.equal(parseId("key", formatId("key", one)), one);
        assert.equal(formatId("key", one) < formatId("key", other), one < other);
      }),
    );
  });

  it("is refused in any other spelling", () => {
    const id = "task_01k9z3mxe5f8rtk3yv5pzq8q2d";
    const wrong = [
      "",
      "task_",
      "task",
      id.slice("task_".length),
      id.slice(0, -1),
      `${id}0`,
      ` ${id}`,
      id.toUpperCase(),
      id.replace("_", "-"),
      id.replace("task", "tasks"),
      id.replace("task", "tok"),
      id.replace("task", "key_task"),
      id.replace("task_0", "task_8"),
      id.replace("z", "i"),
      id.replace("z", "l"),
      id.replace("z", "o"),
      id.replace("z", "u"),
      id.replace("z", "Z"),
      id.replace("z", "-"),
      id.replace("z", "\u0000"),
      id.replace("z", "ź"),
      "019a7e3a-75c5-7a31-a98f-db2dbf745c4d",
    ];
    for (const text of wrong) assert.equal(parseId("task", text), null, text);
    assert.equal(parseId("key", id), null);
  });

  it("is parsed only from its canonical spelling", () => {
    const digit = fc.constantFrom(..."0123456789abcdefghijklmnopqrstuvwxyz_-ABC");
    fc.assert(
      fc.property(fc.array(digit, { minLength: 25, maxLength: 27 }), (digits) => {
        const text = `app_${digits.join("")}`;
        const uuid = parseId("app", text);
        assert.ok(uuid === null || formatId("app", uuid) === text);
      }),
    );
  });
});

describe("createUuidSource", () => {
  const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const instantOf = (uuid: string) => Number.parseInt(uuid.replace("-", "").slice(0, 12), 16);

  function scene(options: { nowMs?: number; fillRandom?: (bytes: Uint8Array) => void } = {}) {
    const clock = { nowMs: options.nowMs ?? 1_770_000_000_123 };
    const fillRandom = options.fillRandom ?? randomFillSync;
    return { clock, next: createUuidSource({ nowMs: () => clock.nowMs, fillRandom }) };
  }

  it("creates version 7 UUIDs with the time in milliseconds", () => {
    const { clock, next } = scene();
    for (const nowMs of [1, 1_770_000_000_123, 1_770_000_000_124, 2 ** 48 - 2]) {
      clock.nowMs = nowMs;
      const uuid = next();
      assert.match(uuid, UUID_V7);
      assert.equal(instantOf(uuid), nowMs);
    }
  });

  it("increases strictly within a millisecond, for any random bytes", () => {
    for (const fill of [0x00, 0x55, 0xff]) {
      const { next } = scene({ fillRandom: (bytes) => bytes.fill(fill) });
      const made = Array.from({ length: 2_000 }, next);
      for (const uuid of made) assert.match(uuid, UUID_V7);
      assert.deepEqual([...new Set(made)].sort(), made);
    }
  });

  it("increases strictly when the clock is set back, and follows it once it has caught up", () => {
    const { clock, next } = scene();
    const made = [next(), next()];
    clock.nowMs -= 3_600_000;
    made.push(next(), next());
    clock.nowMs += 3_600_001;
    made.push(next());
    assert.deepEqual([...made].sort(), made);
    assert.equal(instantOf(made.at(-1) ?? ""), clock.nowMs);
  });

  it("ends each UUID differently, so that none can be guessed from another", () => {
    const { next } = scene();
    const ends = new Set(Array.from({ length: 1_000 }, () => next().slice(-12)));
    assert.equal(ends.size, 1_000);
  });
});
