import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { DataDirInUse, takeOwnerLock } from "../../src/postgres/owner-lock.ts";
import { makeTempDir, removeDir } from "./scene.ts";

/** Sorts after, or before, every name that a contender gives itself. */
const LAST = "z.sock";
const FIRST = "-.sock";

describe("the owner lock of a data directory", () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await makeTempDir();
    await mkdir(join(dataDir, "owners"));
  });
  afterEach(() => removeDir(dataDir));

  const take = () => takeOwnerLock(dataDir, () => {});

  /** Another contender, who answers each question with the next of these words, and is gone after the last. */
  async function contendAs(name: string, ...words: string[]): Promise<{ asked: () => number }> {
    let asked = 0;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      const state = words[asked];
      if (state === "") socket.destroy();
      else socket.end(JSON.stringify({ pid: 1234, host: "elsewhere", state }));
      asked += 1;
      if (asked === words.length) server.close();
    });
    await once(server.listen(join(dataDir, "owners", name)), "listening");
    return { asked: () => asked };
  }

  it("is not taken from an earlier contender that becomes the owner", async () => {
    const other = await contendAs(LAST, "contending", "contending", "owner");

    await assert.rejects(take(), { name: "DataDirInUse", message: /\(pid 1234 on elsewhere\)/ });

    assert.equal(other.asked(), 3);
  });

  it("is taken once a contender with a higher name has gone, even without an answer", async () => {
    await contendAs(LAST, "contending", "");

    const lock = await take();

    await assert.rejects(take(), DataDirInUse);
    await lock.release();
  });

  it("is yielded to a contender with a lower name", async () => {
    await contendAs(FIRST, "contending");
    await assert.rejects(take(), DataDirInUse);
  });

  it("is taken by exactly one of eight contenders, and leaves no files", async () => {
    for (let round = 0; round < 10; round += 1) {
      const settled = await Promise.allSettled(Array.from({ length: 8 }, take));
      const locks = settled.filter((result) => result.status === "fulfilled");
      const refusals = settled.filter((result) => result.status === "rejected");
      assert.equal(locks.length, 1);
      assert.ok(refusals.every(({ reason }) => reason instanceof DataDirInUse));
      await locks[0]?.value.release();
    }
    assert.deepEqual(await readdir(join(dataDir, "owners")), []);
  });

  it("works in a directory whose path is too long for a socket", async () => {
    const deep = join(dataDir, "x".repeat(120));
    await mkdir(deep);
    const lock = await takeOwnerLock(deep, () => {});
    await assert.rejects(
      takeOwnerLock(deep, () => {}),
      DataDirInUse,
    );
    await lock.release();
  });
});
