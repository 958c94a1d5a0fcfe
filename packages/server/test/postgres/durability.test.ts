import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Pool } from "pg";
import { assertDurable, findDangers } from "../../src/postgres/durability.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { makeTempDir, removeDir } from "./scene.ts";

describe("the check for durability", () => {
  let dataDir: string;
  let server: EmbeddedPostgres;
  let pool: Pool;

  before(async () => {
    dataDir = await makeTempDir();
    await start({});
  });
  after(async () => {
    await stop();
    await removeDir(dataDir);
  });

  async function start(extraSettings: Record<string, string>): Promise<void> {
    server = await startEmbeddedPostgres({ dataDir, log: () => {}, extraSettings });
    pool = createPool(server.connection, {
      max: 1,
      applicationName: "bellhop-test",
      onError: () => {},
      statementTimeoutMs: 1234,
    });
  }
  async function stop(): Promise<void> {
    await pool.end();
    await server.stop();
  }

  it("accepts the embedded server as it is", async () => {
    assert.deepEqual(await assertDurable(pool, { allowUnsafe: false }), []);
  });

  it("refuses each unsafe setting by its name, unless the operator means it", async () => {
    await stop();
    await start({ fsync: "off", full_page_writes: "off", synchronous_commit: "off" });

    await assert.rejects(
      assertDurable(pool, { allowUnsafe: false }),
      /fsync = off.*Set fsync = on\..*full_page_writes = off.*synchronous_commit = off/,
    );
    assert.equal((await assertDurable(pool, { allowUnsafe: true })).length, 3);
  });

  it("refuses a server older than PostgreSQL 14", () => {
    const on = { fsync: "on", fullPageWrites: "on", synchronousCommit: "on" };
    assert.deepEqual(findDangers({ ...on, versionNum: 140_000, version: "14.0" }), []);
    assert.deepEqual(findDangers({ ...on, versionNum: 130_022, version: "13.22" }), [
      "PostgreSQL 13.22 is too old for Bellhop: use PostgreSQL 14 or newer.",
    ]);
  });

  it("runs on a pool that sends its name and its time limit", async () => {
    const { rows } = await pool.query(
      "select current_setting('application_name') as name, current_setting('statement_timeout') as limit",
    );
    assert.deepEqual(rows, [{ name: "bellhop-test", limit: "1234ms" }]);
  });
});
