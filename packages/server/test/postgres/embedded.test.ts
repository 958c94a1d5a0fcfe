import assert from "node:assert/strict";
import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createDatabase } from "../../src/postgres/database.ts";
import { assertDurable } from "../../src/postgres/durability.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { isPostmasterOf, readPostmasterPid } from "../../src/postgres/postmaster.ts";
import { until } from "../patience.ts";
import { isAlive, makeTempDir, query, recordLog, removeDir } from "./scene.ts";

describe("the embedded PostgreSQL", () => {
  const { entries, log } = recordLog();
  let dataDir: string;
  let server: EmbeddedPostgres;

  before(async () => {
    dataDir = await makeTempDir();
    await chmod(dataDir, 0o711);
    // Left by a start that died in initdb.
    await mkdir(join(dataDir, "pgdata.new-crashed"));
    server = await startEmbeddedPostgres({ dataDir, log });
  });
  after(async () => {
    await server.stop();
    await removeDir(dataDir);
  });

  const pgdata = () => join(dataDir, "pgdata");

  async function postmasterPid(): Promise<number> {
    const left = await readPostmasterPid(pgdata());
    assert.ok(left !== null);
    return left.pid;
  }

  it("keeps its data over a restart, and does not copy its binaries again", async () => {
    await query(server.connection, "create table kept as select 7 as number");
    const copiedAt = (await stat(server.runtimeDir)).ctimeMs;
    await server.stop();

    server = await startEmbeddedPostgres({ dataDir, log });

    assert.deepEqual(await query(server.connection, "select number from kept"), [7]);
    assert.equal((await stat(server.runtimeDir)).ctimeMs, copiedAt);
  });

  it("removes the files of an interrupted initdb", async () => {
    await assert.rejects(stat(join(dataDir, "pgdata.new-crashed")), { code: "ENOENT" });
  });

  it("is durable, uses UTF-8 and checksums, and listens only on its socket", async () => {
    const names = ["fsync", "full_page_writes", "synchronous_commit", "data_checksums"];
    const shown = names.concat("listen_addresses", "server_encoding").map((n) => `current_setting('${n}')`);
    const values = await query(server.connection, `select ${shown.join(", ")}`);
    assert.deepEqual(values, ["on", "on", "on", "on", "", "UTF8"]);
  });

  it("passes the durability check on a pool with an application name and a time limit", async () => {
    const options = { max: 1, applicationName: "bellhop-test", onError: () => {}, statementTimeoutMs: 1234 };
    const pool = createPool(server.connection, options);
    assert.deepEqual(await assertDurable(createDatabase(pool), { allowUnsafe: false }), []);
    const { rows } = await pool.query(
      "select current_setting('application_name') as name, current_setting('statement_timeout') as limit",
    );
    assert.deepEqual(rows, [{ name: "bellhop-test", limit: "1234ms" }]);
    await pool.end();
  });

  it("allows only its own user into the socket's directory", async () => {
    assert.equal((await stat(server.socketDir)).mode & 0o777, 0o700);
  });

  it("logs no value of a failed statement", async () => {
    await query(server.connection, "create table once (word text primary key)");
    await query(server.connection, "insert into once values ('canary')");
    await assert.rejects(query(server.connection, "insert into once values ('canary')"));
    await assert.rejects(query(server.connection, "select 'canary'::int"));
    // The log goes on to be written after these, so the canary would have come before it.
    await query(server.adminConnection, "select pg_reload_conf()");
    await until(() => JSON.stringify(entries).includes("SIGHUP"));

    assert.ok(!JSON.stringify(entries).includes("canary"));
  });

  it("restarts after kill -9 of the postmaster, and pools reconnect", async () => {
    const errors: Error[] = [];
    const pool = createPool(server.connection, {
      max: 2,
      applicationName: "test",
      onError: (error) => errors.push(error),
    });
    const [busy, idle] = await Promise.all([pool.connect(), pool.connect()]);
    idle.release();
    const killed = await postmasterPid();

    process.kill(killed, "SIGKILL");

    await until(() => errors.length >= 2);
    busy.release(true);
    // A backend of the killed postmaster may still answer, until it notices. A new postmaster starts after the last one.
    await until(async () => ![killed, undefined].includes((await readPostmasterPid(pgdata()))?.pid));
    await until(() =>
      pool.query("select number from kept").then(
        ({ rows }) => rows[0].number === 7,
        () => false,
      ),
    );
    assert.equal(entries.find(({ event }) => event === "postgres.exited")?.signal, "SIGKILL");
    await pool.end();
  });

  it("leaves no process and no socket directory after one or several stops", async () => {
    const pid = await postmasterPid();

    await Promise.all([server.stop(), server.stop()]);
    await server.stop();

    assert.equal(isAlive(pid), false);
    assert.equal(await isPostmasterOf(pid, pgdata()), false);
    await assert.rejects(stat(server.socketDir), { code: "ENOENT" });
    await assert.rejects(stat(join(pgdata(), "postmaster.pid")), { code: "ENOENT" });
  });

  it("names the setting that PostgreSQL does not accept", async () => {
    const extraSettings = { shared_buffers: "a lot" };
    await assert.rejects(
      startEmbeddedPostgres({ dataDir, log, extraSettings }),
      /does not start.*shared_buffers/,
    );
  });

  it("prefers the operator's settings, even unsafe ones, which the durability check names", async () => {
    const extraSettings = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" };
    server = await startEmbeddedPostgres({ dataDir, log, extraSettings });
    const pool = createPool(server.connection, { max: 1, applicationName: "test", onError: () => {} });

    await assert.rejects(
      assertDurable(createDatabase(pool), { allowUnsafe: false }),
      /fsync = off.*Set fsync = on\..*full_page_writes = off.*synchronous_commit = off/,
    );
    assert.equal((await assertDurable(createDatabase(pool), { allowUnsafe: true })).length, 3);
    await pool.end();
  });
});
