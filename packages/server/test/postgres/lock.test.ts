import assert from "node:assert/strict";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { giveTreeTo } from "../../src/postgres/disk.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { chooseIdentity, chooseOwnId, isMapped } from "../../src/postgres/identity.ts";
import { MadeBeforeRelease } from "../../src/store/migration-history.ts";
import { isRoot, makeTempDir, query, removeDir } from "./scene.ts";

const NOBODY = 65534;
const WRONG_PASSWORD = { code: "28P01" };

describe("the embedded PostgreSQL", () => {
  let dataDir: string;
  let server: EmbeddedPostgres;
  const start = async () => {
    server = await startEmbeddedPostgres({ dataDir, log: () => {} });
  };
  before(async () => {
    dataDir = await makeTempDir();
    await start();
    await query(server.connection, "create table kept (number integer)");
    await query(server.connection, "insert into kept values (7)");
  });
  after(async () => {
    await server.stop();
    await removeDir(dataDir);
  });

  const assertAsksEverybody = async () => {
    const { host, port, database } = server.connection;
    for (const user of ["bellhop", "bellhop_app"]) {
      const stranger = { host, port, database, user, password: "guess" };
      await assert.rejects(query(stranger, "select 1"), WRONG_PASSWORD);
    }
  };

  it("has a role for the application that owns its database and is no superuser", async () => {
    const { connection } = server;
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
    await assertAsksEverybody();
    assert.equal((await stat(join(dataDir, "postgres-password"))).mode & 0o777, 0o600);
    const secret = (await readFile(join(dataDir, "postgres-password"), "utf8")).trim();
    assert.ok(secret.length >= 43);
    assert.notEqual(server.connection.password, server.adminConnection.password);
  });

  it("recovers from a lost password file, and from a start that was interrupted before the role could log in", async () => {
    await server.stop();
    await rm(join(dataDir, "postgres-password"));
    await start();
    assert.deepEqual(await query(server.connection, "select number from kept"), [7]);

    await query(server.adminConnection, "alter role bellhop_app nologin");
    await server.stop();
    await start();
    assert.deepEqual(await query(server.connection, "select number from kept"), [7]);
  });

  it("requires the passwords of a copy whose pg_hba.conf trusts everybody", async () => {
    await server.stop();
    await writeFile(join(dataDir, "pgdata", "pg_hba.conf"), "local all all trust\n");
    await start();
    await assertAsksEverybody();
  });

  it("runs as a user of its own when root starts it on a copy that belongs to nobody", {
    skip: !isRoot,
  }, async () => {
    await server.stop();
    await giveTreeTo({ uid: NOBODY, gid: NOBODY }, join(dataDir, "pgdata"));
    await start();
    assert.deepEqual(await query(server.connection, "select number from kept"), [7]);
    const { uid } = await stat(join(dataDir, "pgdata"));
    assert.ok(uid !== NOBODY && uid !== 0);
    assert.equal((await stat(join(dataDir, "pgdata", "base"))).uid, uid);
    assert.equal((await chooseIdentity(join(dataDir, "pgdata")))?.uid, uid);
  });
});

describe("a data directory from before the application had a role of its own", () => {
  it("is refused", async () => {
    const dataDir = await makeTempDir();
    try {
      const made = await startEmbeddedPostgres({ dataDir, log: () => {} });
      await query(made.adminConnection, "reassign owned by bellhop_app to bellhop");
      await query(made.adminConnection, "drop role bellhop_app");
      await made.stop();

      const entries: string[] = [];
      const log = (event: string) => entries.push(event);
      await assert.rejects(startEmbeddedPostgres({ dataDir, log }), MadeBeforeRelease);
      assert.ok(!entries.includes("postgres.started"));
    } finally {
      await removeDir(dataDir);
    }
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
