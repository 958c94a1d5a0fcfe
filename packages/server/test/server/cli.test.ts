import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { access, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Agent, request } from "undici";
import { ensureOperator } from "../../src/service/operator/operator.ts";
import { SCHEMA_VERSION } from "../../src/store/migrate.ts";
import { BELLHOP } from "../places.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { copyDataDir } from "./data-dir.ts";
import { type ServerProcess, startServer, until } from "./server-process.ts";

const NOBODY = 65534;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command as a process of its own, as an operator would run it. */
function bellhop(environment: Record<string, string>, ...args: string[]): Promise<Ran> {
  return bellhopAs(process.getuid?.() ?? 0, environment, ...args);
}

function bellhopAs(uid: number, environment: Record<string, string>, ...args: string[]): Promise<Ran> {
  const env = { PATH: process.env.PATH ?? "", ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, [BELLHOP, ...args], { env, uid }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Only root can, and only where the checkout is open to others. */
function canRunAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  const look = `require("fs").accessSync(${JSON.stringify(BELLHOP)})`;
  return spawnSync(process.execPath, ["-e", look], { uid: NOBODY }).status === 0;
}

function assertRefused(ran: Ran, reason: RegExp): void {
  assert.equal(ran.code, 1, ran.stderr);
  assert.equal(ran.stdout, "");
  assert.match(ran.stderr, reason);
  assert.equal(ran.stderr.trimEnd().split("\n").length, 1, "one line, no stack");
}

describe("the bellhop command, on an embedded database", () => {
  let home: string;
  let server: ServerProcess;
  const agent = new Agent();
  const run = (...args: string[]) => bellhop({ BELLHOP_DATA_DIR: home }, ...args);
  const call = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await request(`${server.url}/v1/queues`, { dispatcher: agent, headers });
    await answer.body.dump();
    return { status: answer.statusCode, limit: answer.headers["x-ratelimit-limit"] };
  };

  before(async () => {
    home = await copyDataDir();
    server = await startServer({ BELLHOP_DATA_DIR: home });
  });
  after(async () => {
    server.signal("SIGTERM");
    await server.exited;
    await agent.close();
    await rm(home, { recursive: true, force: true });
  });

  it("works beside the running server, which applies every change within a second", async () => {
    const made = await run("team", "create", "Acme", "--owner", "Ada@example.com", "--json");
    assert.equal(made.code, 0, made.stderr);
    const { team } = JSON.parse(made.stdout);
    assert.deepEqual([team.name, team.plan, team.requestsPerMinute], ["Acme", "free", 60]);
    const minted = await run("key", "create", team.id, "CI");
    const key = /^ {2}(bh_live_[0-9a-f]{64})$/m.exec(minted.stdout)?.[1] ?? "";
    assert.deepEqual(await call(key), { status: 200, limit: "60" });

    const changed = await run("team", "plan", "Acme", "enterprise", "--per-minute", "1234");
    const changedAt = performance.now();

    assert.equal(
      changed.stdout,
      "Acme: enterprise, 1234 requests a minute (was free, 60 requests a minute)\n",
    );
    await until(async () => (await call(key)).limit === "1234");
    assert.ok(performance.now() - changedAt < 15_000, "a second, and what a busy machine adds to it");

    const { apiKeys } = JSON.parse((await run("key", "list", "Acme", "--json")).stdout);
    assert.equal((await run("key", "revoke", apiKeys[0].id)).code, 0);
    const revokedAt = performance.now();
    await until(async () => (await call(key)).status === 401);
    assert.ok(performance.now() - revokedAt < 15_000);
    assert.doesNotMatch(server.stderr, /connection_lost/);
  });

  it("shows the members and keys of a team, without secrets", async () => {
    await run("team", "create", "Shown", "--plan", "pro", "--owner", "ada@example.com");
    await run("team", "add", "Shown", "bob@example.com");
    const minted = await run("key", "create", "Shown", "sandbox", "--test");
    const [key = ""] = /bh_test_\w+/.exec(minted.stdout) ?? [];

    const { stdout } = await run("team", "show", "Shown");

    assert.match(stdout, /^ {2}plan {5}pro, 600 requests a minute$/m);
    assert.match(stdout, /^owner +\d{4}-\d\d-\d\d {2}ada@example\.com$/m);
    assert.match(stdout, /^member +\d{4}-\d\d-\d\d {2}bob@example\.com$/m);
    assert.match(stdout, /^sandbox {2}test {2}bh_test_\w{4}… {2}\d{4}-\d\d-\d\d {2}never +key_\w{26}$/m);
    assert.ok(key.length > 60 && !stdout.includes(key));
    const list = await run("team", "list");
    assert.match(list.stdout, /^Shown +pro +600 +2 +1 +\d{4}-\d\d-\d\d {2}team_\w{26}$/m);
  });

  it("re-encrypts stored credentials beside the running server", async () => {
    const keys = `new:${randomBytes(32).toString("base64")}`;
    const ran = await bellhop({ BELLHOP_DATA_DIR: home, BELLHOP_VAULT_KEYS: keys }, "vault", "rotate");
    assert.equal(ran.stdout, "0 tokens re-encrypted, 0 cannot be decrypted with these keys\n", ran.stderr);
  });

  it("reports an error in one line", async () => {
    const cases = await Promise.all([
      run("team", "show", "Operater"),
      run("team", "plan", "Operator", "pro", "--per-minute", "5"),
      run("team", "add", "Operator", "nobody"),
      run("key", "revoke", "key_1"),
    ]);
    const [unknown, plan, address, key] = cases;
    assertRefused(unknown, /^There is no team "Operater"; did you mean "Operator"\?$/m);
    assertRefused(plan, /^The plan pro has its own limit; only enterprise takes another$/m);
    assertRefused(address, /^"nobody" is no mail address$/m);
    assertRefused(key, /^API key not found or already revoked$/m);
  });

  it("names the option when the echo's port is in use", async () => {
    const { port } = new URL(server.url);
    assertRefused(
      await run("echo", "--port", port),
      new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use, .* Choose another with --port$`, "m"),
    );
  });

  it("exits with 2 for a mistyped command, and suggests a similar one if there is one", async () => {
    const [command, far, plan, missing] = await Promise.all([
      run("teem", "list"),
      run("deploy"),
      run("team", "plan", "Operator", "gold"),
      run("key", "create", "Operator"),
    ]);
    assert.match(command.stderr, /unknown command 'teem'; did you mean 'team'\?/);
    assert.match(far.stderr, /^error: unknown command 'deploy'$/m);
    assert.match(plan.stderr, /Allowed choices are free, pro, enterprise/);
    assert.match(missing.stderr, /missing required argument 'name'/);
    for (const { code } of [command, far, plan, missing]) assert.equal(code, 2);
  });

  it("creates no files where there is no database", async () => {
    const ran = await bellhop({ BELLHOP_DATA_DIR: `${home}-elsewhere` }, "team", "list");
    assertRefused(ran, /^There is no Bellhop database in .+elsewhere yet\. Start Bellhop once/);
    await assert.rejects(access(`${home}-elsewhere`));
  });

  it("names the user to run it as when another user owns the data", { skip: !canRunAsNobody() }, async () => {
    const ran = await bellhopAs(NOBODY, { BELLHOP_DATA_DIR: home }, "team", "list");
    assertRefused(ran, /^The data in \S+ belongs to another user: run this as root\.$/m);
  });

  it("starts and stops the database itself when no server runs", async () => {
    server.signal("SIGTERM");
    await server.exited;

    const made = await run("team", "create", "Alone");
    assert.equal(made.code, 0, made.stderr);
    assert.equal(made.stderr, "");

    assert.deepEqual(await readdir(join(home, "owners")), []);
    await assert.rejects(access(join(home, "pgdata", "postmaster.pid")));
    server = await startServer({ BELLHOP_DATA_DIR: home });
    assert.match((await run("team", "list")).stdout, /^Alone /m);
  });
});

describe("the bellhop command, on an external database", () => {
  let test: TestDatabase;
  const urlOf = ({ connection }: TestDatabase) =>
    `postgres://bellhop@localhost:${connection.port}/${connection.database}?host=${connection.host}`;
  const run = (...args: string[]) => bellhop({ DATABASE_URL: urlOf(test) }, ...args);

  before(async () => {
    test = await createTestDatabase();
    await ensureOperator(test.database, null);
  });
  after(() => test.drop());

  it("is recorded in the audit log under the name of the system user", async () => {
    const made = await run("team", "create", "Acme", "--plan", "enterprise");
    assert.match(made.stdout, /^Created "Acme", team_\w{26}: enterprise, no limit$/m);
    const events = await test.database.rows<{ actor_kind: string; actor_name: string }>(
      "select actor_kind, actor_name from audit_events",
    );
    assert.equal(events[0]?.actor_kind, "operator");
    assert.notEqual(events[0]?.actor_name, "");
  });

  it("replaces control characters in names", async () => {
    await test.database.rows("insert into teams (name, plan) values ($1, 'free')", ["a\u001b[2Jb\u202e"]);
    const { stdout } = await run("team", "list");
    assert.match(stdout, /^a\ufffd\[2Jb\ufffd /m);
  });

  it("refuses a schema that is newer or older than its own", async () => {
    await test.database.rows(
      "insert into schema_migrations (version, name, hash, oldest_node) values ($1, 'next', '', $1)",
      [SCHEMA_VERSION + 1],
    );
    assertRefused(
      await run("team", "list"),
      /^The database has migration \d+ \("next"\), which needs a Bellhop of schema version \d+ or later; this one has \d+\./,
    );
    await test.database.rows("delete from schema_migrations where version >= $1", [SCHEMA_VERSION]);
    assertRefused(await run("team", "list"), /Start the server of this version once/);
    await test.database.rows("drop table schema_migrations");
    assertRefused(await run("team", "list"), /^The database has schema version 0,/);
  });

  it("reports when the database cannot be reached, without the password", async () => {
    const ran = await bellhop({ DATABASE_URL: "postgres://u:s3cret@127.0.0.1:1/x" }, "team", "list");
    assertRefused(
      ran,
      /^The database of DATABASE_URL cannot be reached: no answer from PostgreSQL at 127\.0\.0\.1:1 \(ECONNREFUSED\)\. /m,
    );
    assert.doesNotMatch(ran.stderr, /s3cret/);
  });
});
