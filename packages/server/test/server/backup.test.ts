import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, chmod, copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type Bellhop, createBellhop } from "@bellhop/sdk";
import { type Echo, startEcho } from "../../src/cli/echo.ts";
import { BELLHOP } from "../places.ts";
import { copyDataDir } from "./data-dir.ts";
import { API_KEY, type ServerProcess, startServer, until } from "./server-process.ts";

const WRITERS = 4;
const PAUSE_MS = 20;

/** Of the embedded database, with the built server and its command. */
describe("bellhop backup and bellhop restore", () => {
  let dataDir: string;
  /** For backups and what is restored from them. */
  let home: string;
  let server: ServerProcess;
  let echo: Echo;
  let bellhop: Bellhop;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), "bellhop-backup-"));
    // As root PostgreSQL runs as another user, who must be able to enter.
    await chmod(home, 0o711);
    dataDir = await copyDataDir();
    echo = await startEcho({ host: "127.0.0.1", port: 0, print: () => {} });
    server = await startServer({ BELLHOP_DATA_DIR: dataDir });
    bellhop = createBellhop({ url: server.url, apiKey: API_KEY });
  });
  after(async () => {
    server.signal("SIGTERM");
    await server.exited;
    await echo.stop();
    for (const dir of [dataDir, home]) await rm(dir, { recursive: true, force: true });
  });

  function run(dir: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { PATH: process.env.PATH ?? "", BELLHOP_DATA_DIR: dir };
    return new Promise((resolve) => {
      execFile(process.execPath, [BELLHOP, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  }

  /** Creates tasks all the time, until it is told to end. */
  function startLoad() {
    const accepted: string[] = [];
    let isOver = false;
    const write = async () => {
      while (!isOver) {
        accepted.push((await bellhop.tasks.create({ queue: "default", webhookUrl: echo.url })).id);
        // The backup gets its share of the processor.
        await wait(PAUSE_MS);
      }
    };
    const writers = Array.from({ length: WRITERS }, write);
    return {
      accepted,
      async end() {
        isOver = true;
        await Promise.all(writers);
      },
    };
  }

  it("restore every task that was accepted before a backup under load", async () => {
    const token = await bellhop.tokens.create({ name: "vendor", value: "Bearer s3cret" });
    const load = startLoad();
    await until(() => load.accepted.length >= 50);
    const before = [...load.accepted];
    const copy = join(home, "nightly");
    const made = await run(dataDir, "backup", copy);
    await load.end();
    assert.equal(made.code, 0, made.stderr);
    assert.ok(load.accepted.length > before.length, "tasks were created during the backup");
    assert.match(
      made.stdout,
      /^Backed up [\d.]+ MB in \d+ files to .+\/nightly\nThe vault keys are not in it/,
    );
    assert.deepEqual((await readdir(copy)).sort(), ["manifest.json", "pgdata"]);
    assert.ok(!(await readdir(join(copy, "pgdata"))).includes("postmaster.pid"));

    const again = join(home, "again");
    const restored = await run(again, "restore", copy);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /^Restored into .+\/again\nBefore the first start put the vault keys/);
    await copyFile(join(dataDir, "vault-keys"), join(again, "vault-keys"));
    const second = await startServer({ BELLHOP_DATA_DIR: again });
    try {
      const other = createBellhop({ url: second.url, apiKey: API_KEY });
      const found = new Set<string>();
      for await (const task of other.tasks.list({ limit: 100 })) found.add(task.id);
      assert.deepEqual(
        before.filter((id) => !found.has(id)),
        [],
      );
      const { id } = await other.tasks.create({
        queue: "default",
        webhookUrl: `${echo.url}/echo`,
        headers: { authorization: token.id },
      });
      const ended = await other.tasks.wait(id);
      assert.equal(ended.status, "completed");
      assert.doesNotMatch(second.stderr, /vault\.keys_missing/);
    } finally {
      second.signal("SIGTERM");
      await second.exited;
    }

    const occupied = await run(again, "restore", copy);
    assert.deepEqual([occupied.code, /^There is a database in/.test(occupied.stderr)], [1, true]);
    const taken = await run(dataDir, "backup", copy);
    assert.match(taken.stderr, /exists already: a backup goes into a new directory\n$/);

    const fresh = join(home, "fresh");
    await appendFile(join(copy, "pgdata", "PG_VERSION"), "x");
    const damaged = await run(fresh, "restore", copy);
    assert.match(damaged.stderr, /^The backup is damaged: PG_VERSION is not what was backed up\n$/);
    await rm(join(copy, "pgdata", "PG_VERSION"));
    assert.match((await run(fresh, "restore", copy)).stderr, /incomplete: PG_VERSION is missing\n$/);
    assert.ok(!(await readdir(fresh)).some((name) => name.startsWith("pgdata")));
    assert.match((await run(fresh, "restore", home)).stderr, /is not a backup of Bellhop/);
  });

  it("leave no replication slot behind", async () => {
    const made = await run(dataDir, "backup", join(home, "second"), "--json");
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(await readdir(join(dataDir, "pgdata", "pg_replslot")), []);
    const manifest = JSON.parse(await readFile(join(home, "second", "manifest.json"), "utf8"));
    assert.equal(Object.keys(manifest.files).length, JSON.parse(made.stdout).files);
  });

  it("refuse to work on an external database", async () => {
    const env = { PATH: process.env.PATH ?? "", DATABASE_URL: "postgres://elsewhere/prod" };
    const refused = await new Promise<string>((resolve) => {
      execFile(
        process.execPath,
        [BELLHOP, "backup", join(home, "none")],
        { env },
        (_error, _stdout, stderr) => resolve(stderr),
      );
    });
    assert.match(refused, /^DATABASE_URL is set: back that database up with its own tools/);
  });
});
