import assert from "node:assert/strict";
import { execSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, realpath, rename, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { readable } from "../../src/server/log.ts";
import { refuseNode, refuseRuntime } from "../../src/version.ts";
import { BELLHOP, MAIN, ROOT } from "../places.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { copyDataDir } from "./data-dir.ts";
import { launch, ready, type ServerProcess, startServer } from "./server-process.ts";

async function portOf(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return String(typeof address === "object" && address !== null ? address.port : 0);
}

async function stop(server: ServerProcess): Promise<void> {
  server.signal("SIGTERM");
  await server.exited;
}

describe("a first start", () => {
  let home: string;
  let dataDir: string;
  const environment = () => ({ BELLHOP_DATA_DIR: dataDir, BELLHOP_API_KEY: "" });

  before(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "bellhop start ")));
    // Root's data would lie elsewhere if PostgreSQL's user could not enter.
    await chmod(home, 0o755);
    dataDir = join(home, "elsewhere", ".bellhop");
    await mkdir(join(home, "elsewhere"));
    await rename(await copyDataDir(), dataDir);
  });
  after(() => rm(home, { recursive: true, force: true }));

  it("on a busy port names PORT, and the next start prints the key", async () => {
    const busy = createServer();
    const port = await portOf(busy);
    const failed = launch({ ...environment(), PORT: port });
    assert.equal(await failed.exited, 1);
    busy.close();
    assert.equal(
      lastLine(failed),
      `Port ${port} on 127.0.0.1 is in use: another program, perhaps another Bellhop, \
listens there (EADDRINUSE). Stop it, or set PORT to another port; PORT=0 selects a free one.`,
    );
    assert.doesNotMatch(failed.stdout, /bh_live_/);

    const next = await startServer(environment());
    await stop(next);
    assert.match(next.stdout, /^ {2}data {6}\S.*elsewhere\/\.bellhop/m);
    assert.match(next.stdout, /^ {2}export KEY=bh_live_[0-9a-f]{64}$/m);
  });

  it("reports a new data directory, other directories with data, a key and a sign-in link, the next none of them", async () => {
    const below = join(home, "elsewhere", "below");
    await mkdir(below);
    const first = await ready(launch({ BELLHOP_API_KEY: "" }, below));
    const own = join(below, ".bellhop");
    assert.ok(first.stdout.includes(`  data      ${own}\n            NEW AND EMPTY.`));
    assert.ok(first.stdout.includes(`\n              ${dataDir}\n`), first.stdout);
    assert.ok(!first.stdout.includes(`\n              ${own}\n`), "it is not another one");
    assert.match(first.stdout, /shown only once:\n\n {2}export KEY=bh_live_[0-9a-f]{64}\n/);
    const link = /^ {2}(http:\S+)\/sign-in\/link\?token=([0-9a-f]{64})$/m.exec(first.stdout);
    assert.equal(link?.[1], first.url);
    const opened = await first.api("POST", "/v1/auth/session", { token: link?.[2] });
    assert.deepEqual(
      [opened.status, opened.json.team?.name, opened.json.user?.email],
      [200, "Operator", "operator@bellhop.invalid"],
    );
    await stop(first);

    const again = await ready(launch({ BELLHOP_API_KEY: "" }, below));
    await stop(again);
    assert.ok(again.stdout.includes(`  data      ${own}\n  egress`));
    assert.doesNotMatch(again.stdout, /bh_live_|sign-in\/link/);
  });
});

describe("a start on an external database", () => {
  let test: TestDatabase;
  let url: (parts?: { user?: string; password?: string; database?: string }) => string;

  before(async () => {
    test = await createTestDatabase({ template: "template0" });
    const { host, port, database } = test.connection;
    url = (parts = {}) =>
      `postgres://${parts.user ?? "bellhop"}:${parts.password ?? ""}@/${parts.database ?? database}` +
      `?host=${encodeURIComponent(host)}&port=${port}`;
    await test.database.rows("drop role if exists guest");
    await test.database.rows("create role guest login");
  });
  after(async () => {
    await test.drop();
    const client = new pg.Client({ ...test.connection, database: "postgres" });
    await client.connect();
    await client.query("drop role guest");
    await client.end();
  });

  async function refusalOf(environment: Record<string, string>): Promise<string> {
    const server = launch(environment);
    assert.equal(await server.exited, 1);
    assert.doesNotMatch(server.stderr, /s3cret|^ +at /m);
    return lastLine(server);
  }

  it("names DATABASE_URL when the database cannot be reached", async () => {
    assert.equal(
      await refusalOf({ DATABASE_URL: "postgres://u:s3cret@127.0.0.1:1/x" }),
      "The database of DATABASE_URL cannot be reached: no answer from PostgreSQL at 127.0.0.1:1 (ECONNREFUSED). " +
        "Start it or correct DATABASE_URL; without DATABASE_URL Bellhop runs its own PostgreSQL.",
    );
  });

  it("names a missing role or database, and the statement that creates it", async () => {
    const [role, database] = await Promise.all([
      refusalOf({ DATABASE_URL: url({ user: "stranger", password: "s3cret" }) }),
      refusalOf({ DATABASE_URL: url({ database: "nowhere" }) }),
    ]);
    assert.match(role, /rejects the role "stranger": .* \(28000\)\..* CREATE ROLE "stranger" LOGIN/);
    assert.match(
      database,
      /has no database "nowhere" \(3D000\)\. .* CREATE DATABASE "nowhere" OWNER "bellhop";/,
    );
  });

  it("names the schema that a role lacks, and needs no other right", async () => {
    await test.database.rows("revoke create on schema public from public");
    const DATABASE_URL = url({ user: "guest" });
    assert.match(
      await refusalOf({ DATABASE_URL }),
      /The role "guest" lacks a right .* \(42501\)\. .* CREATE SCHEMA "guest" AUTHORIZATION "guest";/,
    );

    await test.database.rows("create schema guest authorization guest");
    const server = await startServer({ DATABASE_URL });
    await stop(server);
    assert.match(server.stdout, /^ {2}vault {5}off: .*BELLHOP_VAULT_KEYS is set/m);
    const command = /Create a key with: (.+)$/m.exec(server.stdout)?.[1] ?? "";
    const BELLHOP_VAULT_KEYS = execSync(command, { encoding: "utf8" }).trim();
    const open = await startServer({ DATABASE_URL, BELLHOP_VAULT_KEYS });
    await stop(open);
    assert.doesNotMatch(open.stdout, /vault/);
  });

  it("refuses a database that a build from before the first release made, and leaves it unchanged", async () => {
    const { database } = test;
    await database.rows(
      "create schema earlier authorization guest; alter role guest set search_path = earlier",
    );
    await database.rows(
      `create table earlier.schema_migrations (
         version integer primary key, name text not null, hash text, oldest_node integer, applied_at timestamptz not null default now());
       insert into earlier.schema_migrations values (4, 'first release', 'cdfa', 4), (50, 'schedule portions', '8d73', 26);
       alter table earlier.schema_migrations owner to guest`,
    );
    assert.equal(
      await refusalOf({ DATABASE_URL: url({ user: "guest" }) }),
      "Bellhop could not start: The database was made by a build of Bellhop from before its first release and cannot be " +
        "brought up to date: start with a new data directory or an empty database, or start the build that made it.",
    );
    const tables = await database.rows(
      "select relname as name from pg_class where relnamespace = 'earlier'::regnamespace and relkind = 'r'",
    );
    assert.deepEqual(tables, [{ name: "schema_migrations" }]);
    await database.rows("alter role guest reset search_path; drop schema earlier cascade");
  });

  it("refuses a database that can lose tasks, or logs a warning if that is allowed", async () => {
    await test.database.rows("alter role guest set synchronous_commit = off");
    const DATABASE_URL = url({ user: "guest" });
    assert.match(
      await refusalOf({ DATABASE_URL }),
      /synchronous_commit = off: a crash can lose accepted tasks/,
    );

    const server = await startServer({ DATABASE_URL, BELLHOP_ALLOW_UNSAFE_DATABASE: "true" });
    await stop(server);
    assert.match(server.stderr, /"level":"warn".*synchronous_commit = off.*"msg":"database\.unsafe"/);
  });
});

describe("npm start", () => {
  let dataDir: string;
  let running: ServerProcess | null = null;

  before(async () => {
    dataDir = await copyDataDir();
  });
  afterEach(() => {
    // All of the group, should the signal under test have missed one.
    if (running?.child.pid !== undefined && running.child.exitCode === null)
      process.kill(-running.child.pid, "SIGKILL");
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  async function startByNpm(): Promise<ServerProcess> {
    const environment = { BELLHOP_DATA_DIR: dataDir, HOME: dataDir };
    const command = { file: "npm", args: ["start"], detached: true };
    running = await ready(launch(environment, ROOT, command));
    return running;
  }

  /** Resolves only once no process holds the pipe any more, neither npm nor a server that it left behind. */
  const closed = (server: ServerProcess) => once(server.child, "close");

  it("forwards SIGTERM to the server, which stops once", async () => {
    const server = await startByNpm();
    server.signal("SIGTERM");
    await closed(server);

    assert.equal(server.stderr.match(/"msg":"bellhop\.stopped"/g)?.length, 1);
  });

  it("stops once on Ctrl-C, which reaches npm and the server at the same time", async () => {
    const server = await startByNpm();
    process.kill(-(server.child.pid ?? 0), "SIGINT");
    await closed(server);

    assert.equal(server.stderr.match(/"msg":"bellhop\.stopped"/g)?.length, 1);
  });
});

describe("the log", () => {
  it("has level names, no debug lines by default, and ends with the banner", async () => {
    const test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    const DATABASE_URL = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
    // Both into one pipe, as in a terminal.
    const command = {
      file: "sh",
      args: ["-c", `exec "${process.execPath}" "${MAIN}" 2>&1`],
    };
    const server = await ready(launch({ DATABASE_URL }, ROOT, command));
    const lines = server.stdout.trimEnd().split("\n");
    await stop(server);
    await test.drop();

    assert.ok(lines.some((line) => line.startsWith('{"level":"info",')));
    assert.ok(!lines.some((line) => line.includes("actor.started")));
    const banner = lines.findIndex((line) => line.startsWith("Bellhop "));
    assert.ok(!lines.slice(banner).some((line) => line.startsWith("{")), lines.join("\n"));
    assert.match(lines.at(-1) ?? "", /^Bellhop is ready at http/);
  });
});

describe("a log line on a terminal", () => {
  const time = "2026-01-02T03:04:05.678Z";

  it("has time, level, event and fields, without null fields", () => {
    assert.equal(
      readable({ level: "warn", time, msg: "lease.lost", worker: 7, name: "a b", keys: ["k"], team: null }),
      '03:04:05 warn  lease.lost  worker=7  name=a b  keys=["k"]',
    );
  });

  it("shows a text of several lines below the line", () => {
    assert.equal(
      readable({
        level: "warn",
        time,
        msg: "mail.not_sent",
        text: "Sign in:\nhttps://bellhop.test/sign-in?token=t",
      }),
      "03:04:05 warn  mail.not_sent\n      Sign in:\n      https://bellhop.test/sign-in?token=t",
    );
  });

  it("shows an error with its cause, without control characters", () => {
    const err = {
      type: "Problem",
      message: "away\u001b[2J",
      stack: "    at x",
      cause: { message: "refused" },
    };
    assert.equal(
      readable({ level: "error", time, msg: "actor.failed", err }),
      "03:04:05 error actor.failed  Problem: away\ufffd[2J  because: refused\n      at x",
    );
  });
});

describe("the runtime", () => {
  it("is refused when it is not Node", async () => {
    const { bun, deno, ...versions } = process.versions;
    assert.equal(refuseRuntime(versions), null);
    assert.equal(
      refuseRuntime({ ...versions, bun: "1.4.4" }),
      "Bellhop runs on Node, and this is Bun 1.4.4. Start it with node.",
    );
    // As Bun names itself, in each file that a process begins with.
    const pretend = `Object.defineProperty(process.versions, "bun", { value: "1.4.4" });`;
    for (const entry of [MAIN, BELLHOP]) {
      const preload = `--import=data:text/javascript,${encodeURIComponent(pretend)}`;
      const ran = spawnSync(process.execPath, [preload, entry], { encoding: "utf8" });
      assert.deepEqual([ran.status, ran.stderr.includes("this is Bun 1.4.4")], [1, true], ran.stderr);
    }
  });
});

describe("the version of Node", () => {
  it("is refused when it is older than the package requires", () => {
    for (const good of ["20.19.0", "20.20.2", "22.1.0", "100.0.0"])
      assert.equal(refuseNode(good, ">=20.19"), null);
    for (const old of ["18.20.4", "20.18.3", "9.11.2"])
      assert.equal(
        refuseNode(old, ">=20.19"),
        `Bellhop needs Node 20.19 or newer, and this is Node ${old}. Install a newer one: https://nodejs.org`,
      );
  });
});

function lastLine({ stderr }: ServerProcess): string {
  return stderr.trimEnd().split("\n").at(-1) ?? "";
}
