import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { DataDirInUse } from "../../src/postgres/data-dir-in-use.ts";
import { startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { chooseIdentity, spawnIdentity } from "../../src/postgres/identity.ts";
import { readPostmasterPid } from "../../src/postgres/postmaster-pid.ts";
import { isAlive, makeTempDir, query, recordLog, removeDir, runStarter, type Starter } from "./scene.ts";

describe("the ownership of a data directory", () => {
  const starters: Starter[] = [];
  let dataDir: string;
  let pgdata: string;

  before(async () => {
    dataDir = await makeTempDir();
    pgdata = join(dataDir, "pgdata");
  });
  after(() => removeDir(dataDir));
  afterEach(async () => {
    for (const { child, ended } of starters.splice(0)) {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      await ended;
    }
  });

  function runAnother(): Starter {
    const starter = runStarter(dataDir);
    starters.push(starter);
    return starter;
  }
  const startHere = (log = recordLog().log) => startEmbeddedPostgres({ dataDir, log });

  it("goes to exactly one of several that start at the same time, on a directory still empty", async () => {
    const words = await Promise.all([runAnother(), runAnother(), runAnother()].map(({ word }) => word));

    assert.equal(words.filter((word) => "started" in word).length, 1);
    for (const word of words) {
      if ("refused" in word) assert.match(word.refused, /^Another Bellhop \(pid \d+ on .+\) is using/);
    }
  });

  it("refuses a second server, names the first and says what to do", async () => {
    const first = runAnother();
    await first.word;

    await assert.rejects(startHere(), (error) => {
      assert.ok(error instanceof DataDirInUse);
      assert.match(
        error.message,
        new RegExp(`\\(pid ${first.pid} on .+\\) is using the data directory ${dataDir}\\.`),
      );
      assert.match(error.message, /Stop it first, or set BELLHOP_DATA_DIR to another directory\./);
      return true;
    });
  });

  it("stays with an owner that is paused", async () => {
    const first = runAnother();
    await first.word;
    first.child.kill("SIGSTOP");

    await assert.rejects(startHere(), DataDirInUse);
  });

  it("is known to PostgreSQL too, should the owner's socket have been removed", async () => {
    const first = runAnother();
    const word = await first.word;
    await rm(join(dataDir, "owners"), { recursive: true });

    await assert.rejects(startHere(), {
      name: "DataDirInUse",
      message: new RegExp(`\\(pid ${first.pid}\\)`),
    });

    assert.ok("started" in word);
    assert.deepEqual(await query(word.started, "select 1"), [1]);
  });

  it("passes on after kill -9 of the owner: the orphaned postmaster is stopped, the data is there", async () => {
    const first = runAnother();
    const word = await first.word;
    assert.ok("started" in word);
    await query(word.started, "create table kept as select 7 as number");
    const orphan = await readPostmasterPid(pgdata);
    first.child.kill("SIGKILL");
    await first.ended;
    assert.ok(orphan !== null && isAlive(orphan.pid));

    const { entries, log } = recordLog();
    const server = await startHere(log);

    assert.deepEqual(await query(server.connection, "select number from kept"), [7]);
    assert.ok(entries.some(({ event, pid }) => event === "postgres.orphan_stopped" && pid === orphan.pid));
    await assert.rejects(stat(orphan.socketDir), { code: "ENOENT" });
    await server.stop();
  });

  it("is not blocked by a postmaster.pid whose pid now belongs to an unrelated process", async () => {
    const stranger = spawn("sleep", ["600"], {
      ...spawnIdentity(await chooseIdentity(pgdata)),
      stdio: "ignore",
    });
    const pidFile = [stranger.pid, pgdata, 1, 5432, "/tmp/bellhop-pg-longgone", "*", "1 1", "ready"].join(
      "\n",
    );
    await writeFile(join(pgdata, "postmaster.pid"), pidFile);

    try {
      const server = await startHere();
      await server.stop();
      assert.equal(stranger.exitCode, null);
    } finally {
      stranger.kill();
    }
    await once(stranger, "exit");
  });
});
