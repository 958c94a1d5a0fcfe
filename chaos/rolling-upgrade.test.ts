import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { MAIN, SERVER } from "../packages/server/test/places.ts";
import { launch, ready, type ServerProcess, until } from "../packages/server/test/server/server-process.ts";
import { createTestDatabase, type TestDatabase } from "../packages/server/test/test-database.ts";
import { createGate } from "../packages/server/test/test-sql.ts";
import { runRollingUpgrade } from "./rolling-upgrade.ts";

const END_OF_LIST = "\nvar SCHEMA_VERSION =";

/** What migrations that only add may do, to the tables that every statement of a node uses. */
const ADDITIVE = [
  "alter table tasks add column upgrade_note text",
  "alter table queues add column upgrade_count integer not null default 0",
  "alter table workers add column upgrade_note text; create table upgrade_notes (note text not null)",
];

/** This build with a further migration, as the next release has one. Returns its main file. */
async function buildNext(directory: string, migration: string): Promise<string> {
  const bundle = join(directory, "dist", "bundle");
  await cp(dirname(MAIN), bundle, { recursive: true });
  await cp(join(SERVER, "package.json"), join(directory, "package.json"));
  let edited = 0;
  for (const name of await readdir(bundle, { recursive: true })) {
    if (!name.endsWith(".js")) continue;
    const [before = "", ...after] = (await readFile(join(bundle, name), "utf8")).split(END_OF_LIST);
    if (after.length === 0) continue;
    edited += after.length;
    await writeFile(join(bundle, name), [`${before}\n${migration}`, ...after].join(END_OF_LIST));
  }
  assert.equal(edited, 1, `the end of the list of migrations, as it is in ${dirname(MAIN)}`);
  return join(bundle, "main.js");
}

const add = (version: number, name: string, sql: string, oldestNode: string) =>
  `MIGRATIONS.push({ version: ${version}, name: "${name}", sql: "${sql}", ${oldestNode} });`;
const additive = [
  "const oldestNode = MIGRATIONS.at(-1).version;",
  ...ADDITIVE.map((sql, index) => add(9001 + index, "additive", sql, "oldestNode")),
].join("\n");
const LAST = 9000 + ADDITIVE.length;
const incompatible = add(LAST + 1, "incompatible", "alter table tasks drop column upgrade_note", "");

describe("a rolling upgrade", () => {
  let test: TestDatabase;
  let directory: string;
  before(async () => {
    test = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), "bellhop-upgrade-"));
  });
  after(async () => {
    await test.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it("with an additive migration refuses no request, loses no task and keeps two nodes ready", async () => {
    const { violations, lines } = await runRollingUpgrade({
      connection: test.connection,
      from: MAIN,
      to: await buildNext(join(directory, "additive"), additive),
      directory,
      seconds: 0.3,
      say: () => {},
    });
    assert.deepEqual(violations, [], lines.join("\n"));
    assert.match(lines[0] ?? "", new RegExp(`→ ${LAST}$`));
  });

  describe("while an older node serves", () => {
    let old: ServerProcess;
    let environment: { DATABASE_URL: string };
    const started: ServerProcess[] = [];
    before(async () => {
      const { host, port, user, database } = test.connection;
      environment = {
        DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      };
      await test.database.rows(
        `delete from schema_migrations where version > 9000;
         alter table tasks drop column upgrade_note; alter table queues drop column upgrade_count;
         alter table workers drop column upgrade_note; drop table upgrade_notes`,
      );
      old = await ready(launch(environment));
      started.push(old);
    });
    after(async () => {
      for (const server of started) {
        server.signal("SIGKILL");
        await server.exited;
      }
    });

    async function startNext(name: string, migration: string): Promise<ServerProcess> {
      const file = process.execPath;
      const args = [await buildNext(join(directory, name), migration)];
      const server = launch(environment, directory, { file, args });
      started.push(server);
      return server;
    }

    it("does not delay its requests while an additive migration waits for a lock", async () => {
      let next: ServerProcess;
      const gate = createGate();
      const holder = test.database.transaction(async (sql) => {
        await sql.rows("lock table tasks in access share mode");
        await gate.wait();
      });
      await gate.reached;
      try {
        next = await startNext("next", additive);
        const isMigrationWaiting = async () => {
          const rows = await test.database.rows(
            `select pid from pg_stat_activity
              where wait_event_type = 'Lock' and query like 'alter table tasks%' and datname = current_database()`,
          );
          return rows.length > 0;
        };
        for (let round = 0; round < 3; round += 1) {
          await until(isMigrationWaiting);
          const { status, json } = await old.api("POST", "/v1/tasks", {
            queue: "default",
            webhook_url: "http://127.0.0.1:9/",
            delay: 3600,
          });
          assert.equal(status, 201, JSON.stringify(json));
        }
      } finally {
        gate.open();
        await holder;
      }
      await ready(next);
      assert.equal((await old.api("GET", "/readyz")).status, 200);
    });

    it("makes it unready and refuses its start after an incompatible migration", async () => {
      const next = await ready(await startNext("incompatible", `${additive}\n${incompatible}`));
      assert.equal((await next.api("GET", "/readyz")).status, 200);

      const { status, json } = await old.api("GET", "/readyz");
      assert.equal(status, 503);
      assert.match(
        json.checks.migrations,
        /^version 9004: migration 9004 \("incompatible"\) needs nodes of schema version 9004 or later, this one has \d+$/,
      );
      const again = launch(environment);
      assert.notEqual(await again.exited, 0);
      assert.match(
        again.stderr,
        /The database has migration 9004 \("incompatible"\), which needs a Bellhop of/,
      );
    });
  });
});
