import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createGroupCommit } from "../../src/store/group-commit.ts";
import { createTestTime } from "../test-time.ts";

/** A flush that waits until the test lets it return. */
function createFlushes() {
  const batches: (readonly number[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const flush = (items: readonly number[]) => {
    batches.push(items);
    return new Promise<readonly string[]>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve(items.map((item) => `stored ${item}`))));
    });
  };
  /** As long as a flush takes to begin after another one. */
  const turn = async () => {
    for (let passed = 0; passed < 3; passed += 1) await new Promise(setImmediate);
  };
  return { batches, ends, flush, turn };
}

describe("group commit", () => {
  it("flushes a single item without waiting for others", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 10, soon: setImmediate });

    const stored = group.add(1);
    await turn();

    assert.deepEqual(batches, [[1]]);
    ends[0]?.();
    assert.equal(await stored, "stored 1");
  });

  it("puts items that arrive during a flush into the next ones, in order, up to maxItems", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 2, soon: setImmediate });

    const stored = [group.add(1)];
    await turn();
    stored.push(group.add(2), group.add(3), group.add(4));
    assert.equal(group.waiting, 3);
    for (let flushed = 0; flushed < 3; flushed += 1) {
      ends[flushed]?.();
      await turn();
    }

    assert.deepEqual(batches, [[1], [2, 3], [4]]);
    assert.deepEqual(await Promise.all(stored), ["stored 1", "stored 2", "stored 3", "stored 4"]);
    assert.equal(group.waiting, 0);
  });

  it("pauses after a flush of several items where it is given a pause, and not after one item", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const pauses: (() => void)[] = [];
    const pause = (work: () => void) => pauses.push(work);
    const group = createGroupCommit({ flush, maxItems: 10, soon: setImmediate, pause });
    const stored = [group.add(1)];
    await turn();
    stored.push(group.add(2), group.add(3));
    ends[0]?.();
    await turn();
    assert.deepEqual(batches, [[1], [2, 3]]);

    ends[1]?.();
    for (const item of [4, 5]) {
      stored.push(group.add(item));
      await turn();
    }
    assert.equal(batches.length, 2);
    pauses[0]?.();
    await turn();

    assert.deepEqual(batches[2], [4, 5]);
    ends[2]?.();
    await Promise.all(stored);
    await turn();
    pauses[1]?.();
    await group.drained();
  });

  it("limits the weight of a flush, and flushes an item above the limit alone", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const weight = { of: (item: number) => item, most: 10 };
    const group = createGroupCommit({ flush, maxItems: 3, weight, soon: setImmediate });

    const stored = [4, 6, 1, 20, 5, 1, 1, 1].map((item) => group.add(item));
    for (let flushed = 0; flushed < 5; flushed += 1) {
      await turn();
      ends[flushed]?.();
    }

    assert.deepEqual(batches, [[4, 6], [1], [20], [5, 1, 1], [1]]);
    await Promise.all(stored);
  });

  /** Items from 100 on belong to another team. */
  const teamOf = (item: number) => Math.floor(item / 100);

  it("shares a flush equally among teams, and fills it with the items of those that have more", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 4, teamOf, soon: setImmediate });

    const stored = [1, 2, 3, 4, 5, 6, 7, 8, 9, 101, 102, 103, 201].map((item) => group.add(item));
    for (let flushed = 0; flushed < 4; flushed += 1) {
      await turn();
      ends[flushed]?.();
    }

    assert.deepEqual(batches, [[1, 2, 101, 102], [201, 3, 4, 103], [5, 6, 7, 8], [9]]);
    await Promise.all(stored);
  });

  it("shares the weight of a flush equally among teams, and skips items that do not fit", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const weight = { of: (item: number) => item % 100, most: 12 };
    const group = createGroupCommit({ flush, maxItems: 10, weight, teamOf, soon: setImmediate });

    const stored = [3, 3, 3, 9, 9, 104, 104, 104, 201].map((item) => group.add(item));
    for (let flushed = 0; flushed < 4; flushed += 1) {
      await turn();
      ends[flushed]?.();
    }

    assert.deepEqual(batches, [[3, 104, 201, 3], [3, 104, 104], [9], [9]]);
    await Promise.all(stored);
  });

  it("begins the next flush with the team whose item was too heavy for the last", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const weight = { of: (item: number) => item % 100, most: 10 };
    const group = createGroupCommit({ flush, maxItems: 10, weight, teamOf, soon: setImmediate });

    const stored = [4, 4, 110, 201].map((item) => group.add(item));
    await turn();
    stored.push(group.add(301));
    for (let flushed = 0; flushed < 3; flushed += 1) {
      ends[flushed]?.();
      await turn();
    }

    assert.deepEqual(batches, [[4, 201, 4], [110], [301]]);
    await Promise.all(stored);
  });

  it("puts the single item of another team into the next flush, whatever waits before it", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const weight = { of: (item: number) => item % 100, most: 10 };
    const group = createGroupCommit({ flush, maxItems: 10, weight, teamOf, soon: setImmediate });

    const stored = Array.from({ length: 20 }, () => group.add(9));
    await turn();
    stored.push(group.add(102));
    ends[0]?.();
    await turn();

    assert.deepEqual(batches, [[9], [102]]);
    for (let flushed = 1; flushed < 22; flushed += 1) {
      ends[flushed]?.();
      await turn();
    }
    await Promise.all(stored);
  });

  it("is full for the teams that use more than their share, and only for them", async () => {
    const { ends, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 10, teamOf, soon: setImmediate });

    const stored = [1, 2, 3].map((item) => group.add(item));
    assert.equal(group.isFull(4, 4), false);
    stored.push(group.add(4));
    assert.equal(group.isFull(5, 4), true);
    assert.equal(group.isFull(101, 4), false);
    stored.push(group.add(101), group.add(102));
    assert.equal(group.isFull(103, 4), true);
    assert.equal(group.isFull(201, 4), false);

    await turn();
    ends[0]?.();
    await Promise.all(stored);
    assert.equal(group.isFull(5, 4), false);
  });

  it("includes items read in the turn in which a flush returns in the next flush", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 10, soon: setImmediate });

    void group.add(1);
    await turn();
    void group.add(2);
    // Other sockets are read in the same turn of the loop in which the flush returns.
    setImmediate(() => void group.add(3));
    ends[0]?.();
    await turn();

    assert.deepEqual(batches, [[1], [2, 3]]);
  });

  it("runs one flush at a time", async () => {
    const { batches, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 1, soon: setImmediate });

    void group.add(1);
    void group.add(2);
    await turn();
    await turn();

    assert.equal(batches.length, 1);
  });

  it("rejects only the items of the flush that failed", async () => {
    const { ends, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 2, soon: setImmediate });

    const answers = Promise.allSettled([group.add(1), group.add(2), group.add(3)]);
    await turn();
    ends[0]?.(new Error("refused"));
    await turn();
    ends[1]?.();

    assert.deepEqual(
      (await answers).map(({ status }) => status),
      ["rejected", "rejected", "fulfilled"],
    );
  });

  it("is drained once no item waits or is in flight, even if there never was one", async () => {
    const { ends, flush, turn } = createFlushes();
    const group = createGroupCommit({ flush, maxItems: 1, soon: setImmediate });
    await group.drained();

    void group.add(1);
    void group.add(2);
    let drained = false;
    const done = group.drained().then(() => {
      drained = true;
    });
    await turn();
    ends[0]?.();
    await turn();
    assert.equal(drained, false);
    ends[1]?.();
    await done;
  });

  it("rejects items without an answer in time, and does not flush them later", async () => {
    const { batches, ends, flush, turn } = createFlushes();
    const time = createTestTime();
    const refused: boolean[] = [];
    const refuse = (isBegun: boolean) => {
      refused.push(isBegun);
      return new Error("too late");
    };
    const patience = { ms: 1000, time, refuse };
    const group = createGroupCommit({ flush, maxItems: 10, teamOf, soon: setImmediate, patience });

    const first = group.add(1);
    await turn();
    const second = group.add(2);
    const another = group.add(102);
    time.pass(500);
    const third = group.add(3);
    time.pass(600);
    await assert.rejects(first, /too late/);
    await assert.rejects(second, /too late/);
    await assert.rejects(another, /too late/);
    assert.deepEqual(refused, [true, false]);
    ends[0]?.();
    await turn();
    assert.deepEqual(batches, [[1], [3]]);

    ends[1]?.();
    assert.equal(await third, "stored 3");
    assert.equal(group.waiting, 0);
  });
});
