import assert from "node:assert/strict";
import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { runBinary } from "../../src/postgres/child-run.ts";
import { ensureCluster } from "../../src/postgres/cluster.ts";
import { giveTreeTo } from "../../src/postgres/disk.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { chooseIdentity, chooseOwnId, type Identity, isMapped } from "../../src/postgres/identity.ts";
import { ensureRuntime, findBinaries } from "../../src/postgres/runtime.ts";
import { settingFlags } from "../../src/postgres/settings.ts";
import { makeSocketDir, removeSocketDir } from "../../src/postgres/socket-dir.ts";
import { until } from "../patience.ts";
import { isRoot, makeTempDir, query, removeDir } from "./scene.ts";

const NOBODY = 65534;
const WRONG_PASSWORD = { code: "28P01" };

/** A data directory as the version before this one left it: everybody is trusted, and the superuser owns all. */
async function makeOldData(dataDir: string): Promise<void> {
  const binaries = await findBinaries();
  const identity: Identity = isRoot ? { uid: NOBODY, gid: NOBODY } : null;
  await chmod(dataDir, 0o711);
  const runtimeDir = await ensureRuntime(binaries, dataDir);
  const pgdata = await ensureCluster(dataDir, runtimeDir, binaries.version, identity, () => {});
  await writeFile(join(pgdata, "pg_hba.conf"), "local all all trust\n");
  if (isRoot) await giveTreeTo(identity, pgdata);
  const socketDir = await makeSocketDir(identity);
  const connection = { host: socketDir, port: 5432, user: "bellhop", database: "postgres" };
  const { child, exited } = runBinary(
    join(runtimeDir, "bin", "postgres"),
    ["-D", pgdata, ...settingFlags(connection, {})],
    identity,
    () => {},
  );
  await until(() =>
    query(connection, "create database bellhop").then(
      () => true,
      () => false,
    ),
  );
  try {
    for (const statement of [
      "create type mood as enum ('well')",
      "create table kept (id integer generated always as identity, number integer, mood mood)",
      "create sequence alone",
      "create function seven() returns integer language sql as 'select 7'",
      "insert into kept (number) values (7)",
    ]) {
      await query({ ...connection, database: "bellhop" }, statement);
    }
  } finally {
    child.kill("SIGINT");
    await exited;
    await removeSocketDir(socketDir);
  }
}

describe("the embedded PostgreSQL with the data of an earlier version", () => {
  let dataDir: string;
  let server: EmbeddedPostgres;
  before(async () => {
    dataDir = await makeTempDir();
    await makeOldData(dataDir);
    server = await startEmbeddedPostgres({ dataDir, log: () => {} });
  });
  after(async () => {
    await server.stop();
    await removeDir(dataDir);
  });

  it("keeps the data, with a role that owns it and is no superuser", async () => {
    const { connection } = server;
    assert.deepEqual(await query(connection, "select number, seven() from kept"), [7, 7]);
    for (const change of [
      "alter table kept add column more integer",
      "alter sequence alone increment 2",
      "alter type mood add value 'better'",
      "drop function seven()",
    ]) {
      await query(connection, change);
    }
    const rights = "rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls";
    assert.deepEqual(await query(connection, `select ${rights} from pg_roles where rolname = current_user`), [
      false,
      false,
      false,
      false,
      false,
    ]);
    await assert.rejects(query(connection, "copy kept to program 'cat'"), { code: "42501" });
    await assert.rejects(query(connection, "create database other"), { code: "42501" });
  });

  it("requires a password from every role", async () => {
    for (const user of ["bellhop", "bellhop_app"]) {
      const { host, port, database } = server.connection;
      await assert.rejects(
        query({ host, port, database, user, password: "guess" }, "select 1"),
        WRONG_PASSWORD,
      );
    }
    assert.equal((await stat(join(dataDir, "postgres-password"))).mode & 0o777, 0o600);
    const secret = (await readFile(join(dataDir, "postgres-password"), "utf8")).trim();
    assert.ok(secret.length >= 43);
    assert.notEqual(server.connection.password, server.adminConnection.password);
  });

  it("runs as a user of its own when started by root", { skip: !isRoot }, async () => {
    const { uid } = await stat(join(dataDir, "pgdata"));
    assert.ok(uid !== NOBODY && uid !== 0);
    assert.equal((await stat(join(dataDir, "pgdata", "base"))).uid, uid);
    assert.equal((await chooseIdentity(join(dataDir, "pgdata")))?.uid, uid);
  });

  it("recovers from a lost password file, and from an interrupted change of owners", async () => {
    await server.stop();
    await rm(join(dataDir, "postgres-password"));
    server = await startEmbeddedPostgres({ dataDir, log: () => {} });
    assert.deepEqual(await query(server.connection, "select number from kept"), [7]);

    // As if the process had died after the role was made and before all was its own.
    await query(server.adminConnection, "alter role bellhop_app nologin");
    await query(server.adminConnection, "alter table kept owner to bellhop");
    await server.stop();
    server = await startEmbeddedPostgres({ dataDir, log: () => {} });
    await query(server.connection, "alter table kept add column last integer");
  });
});

describe("the user that root runs PostgreSQL as", () => {
  it("is unique, and the same for the same directory", () => {
    const own = chooseOwnId("/data/pgdata", "");
    assert.equal(chooseOwnId("/data/pgdata", ""), own);
    assert.ok(own >= 60_578 && own < 61_184);
    const taken = `somebody:x:${own}:${own}::/:\n`;
    assert.notEqual(chooseOwnId("/data/pgdata", taken), own);
    assert.equal(chooseOwnId("/data/pgdata", taken), chooseOwnId("/data/pgdata", taken));
  });

  it("exists only where the container maps its id", () => {
    assert.equal(isMapped(60_600, null), true);
    assert.equal(isMapped(60_600, "         0          0 4294967295\n"), true);
    assert.equal(isMapped(60_600, "0 1000 1\n1 100000 65536\n"), true);
    assert.equal(isMapped(60_600, "0 1000 1\n"), false);
  });
});
