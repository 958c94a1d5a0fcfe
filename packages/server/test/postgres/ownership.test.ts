import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { chooseIdentity, spawnIdentity } from "../../src/postgres/identity.ts";
import { DataDirInUse } from "../../src/postgres/owner-lock.ts";
import { readPostmasterPid } from "../../src/postgres/postmaster.ts";
import type { EmbeddedConnection } from "../../src/postgres/socket-dir.ts";
import {
  isAlive,
  makeTempDir,
  query,
  recordLog,
  removeDir,
  runStarter,
  type Starter,
  type Word,
} from "./scene.ts";

describe("the ownership of a data directory", () => {
  let dataDir: string;
  let pgdata: string;
  let starters: Starter[];
  let words: Word[];
  let owner: Starter;
  let connection: EmbeddedConnection;

  before(async () => {
    dataDir = await makeTempDir();
    pgdata = join(dataDir, "pgdata");
    starters = [runStarter(dataDir), runStarter(dataDir)];
    words = await Promise.all(starters.map(({ word }) => word));
    for (const [index, word] of words.entries()) {
      const starter = starters[index];
      if (starter === undefined || !("started" in word)) continue;
      owner = starter;
      connection = word.started;
    }
  });
  after(async () => {
    for (const { child, ended } of starters) {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      await ended;
    }
    await removeDir(dataDir);
  });

  const startHere = (log = recordLog().log) => startEmbeddedPostgres({ dataDir, log });

  it("is taken by exactly one of two servers that start at once on an empty directory", () => {
    const refusals = words.flatMap((word) => ("refused" in word ? [word.refused] : []));
    assert.equal(refusals.length, 1);
    assert.match(refusals[0] ?? "", new RegExp(`^Another Bellhop \\(pid ${owner.pid} on .+\\) is using`));
  });

  it("is refused to a second server, with the first one's pid and what to do", async () => {
    await assert.rejects(startHere(), (error) => {
      assert.ok(error instanceof DataDirInUse);
      assert.match(
        error.message,
        new RegExp(`\\(pid ${owner.pid} on .+\\) is using the data directory ${dataDir}\\.`),
      );
      assert.match(error.message, /Stop it first, or set BELLHOP_DATA_DIR to another directory\./);
      return true;
    });
  });

  it("is kept by an owner that is paused", async () => {
    owner.child.kill("SIGSTOP");
    await assert.rejects(startHere(), DataDirInUse);
    owner.child.kill("SIGCONT");
  });

  it("is kept by an owner whose socket was removed while its connection is open", async () => {
    const own = new Client({ ...connection, application_name: "bellhop-listen" });
    await own.connect();
    await rm(join(dataDir, "owners"), { recursive: true });

    await assert.rejects(startHere(), DataDirInUse);

    assert.deepEqual(await query(connection, "select 1"), [1]);
    await own.end();
  });

  it("is taken over after kill -9 of the owner: the orphaned postmaster stops, the data stays", async () => {
    await query(connection, "create table kept as select 7 as number");
    const orphan = await readPostmasterPid(pgdata);
    owner.child.kill("SIGKILL");
    await owner.ended;
    assert.ok(orphan !== null && isAlive(orphan.pid));

    const { entries, log } = recordLog();
    const server = await startHere(log);

    assert.deepEqual(await query(server.connection, "select number from kept"), [7]);
    assert.ok(entries.some(({ event, pid }) => event === "postgres.orphan_stopped" && pid === orphan.pid));
    await assert.rejects(stat(orphan.socketDir), { code: "ENOENT" });
    await server.stop();
  });

  it("is not blocked by a postmaster.pid whose pid belongs to an unrelated process", async () => {
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
