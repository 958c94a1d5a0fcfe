import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { freePort } from "../../../../tools/free-port.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { startTestTarget } from "../test-target.ts";
import { launch, startServer, until } from "./server-process.ts";

const isInstalled = spawnSync("pgbouncer", ["--version"]).status === 0;

describe("a PgBouncer in front of PostgreSQL", { skip: !isInstalled && "PgBouncer is not installed" }, () => {
  let test: TestDatabase;
  let dir: string;
  let pooler: ChildProcess | null = null;

  before(async () => {
    test = await createTestDatabase();
    dir = await mkdtemp(join(tmpdir(), "bellhop-pgbouncer-"));
    await chmod(dir, 0o755);
  });
  afterEach(async () => {
    pooler?.kill("SIGKILL");
    if (pooler !== null) await once(pooler, "exit");
    pooler = null;
  });
  after(async () => {
    await rm(dir, { recursive: true, force: true });
    await test.drop();
  });

  async function startPooler(mode: "session" | "transaction"): Promise<string> {
    const { host, port, user, database } = test.connection;
    const poolerPort = await freePort();
    const settings = join(dir, `${mode}.ini`);
    await writeFile(
      settings,
      `[databases]
       ${database} = host=${host} port=${port} dbname=${database} user=${user}
       [pgbouncer]
       listen_addr = 127.0.0.1
       listen_port = ${poolerPort}
       unix_socket_dir =
       auth_type = any
       pool_mode = ${mode}
       default_pool_size = 30`.replace(/^ +/gm, ""),
    );
    // Neither it nor PostgreSQL runs as root; only the owner of the socket's directory can enter it.
    const { uid, gid } = await stat(host);
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    pooler = spawn("pgbouncer", [settings], { ...identity, stdio: "ignore" });
    await until(
      () =>
        new Promise((resolve) => {
          const socket = createConnection(poolerPort, "127.0.0.1");
          socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
          socket.once("connect", () => socket.destroy());
        }),
    );
    return `postgres://${user}@127.0.0.1:${poolerPort}/${database}`;
  }

  it("in transaction mode is refused at the start, with the remedy", async () => {
    const server = launch({ DATABASE_URL: await startPooler("transaction") });

    assert.equal(await server.exited, 1);
    assert.match(server.stderr, /lends its connections for a transaction .* pool_mode = session/);
    const settled = await test.database.rows<{ n: number }>(
      "select count(*)::integer as n from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
    );
    assert.equal(settled[0]?.n, 0);
  });

  it("in session mode lets every task complete", async () => {
    const target = await startTestTarget();
    const server = await startServer({ DATABASE_URL: await startPooler("session") });
    const created = await Promise.all(
      Array.from({ length: 50 }, () => server.create({ queue: "default", webhook_url: target.url })),
    );
    for (const { id } of created) assert.equal((await server.ended(id)).status, "completed");
    server.signal("SIGTERM");
    assert.equal(await server.exited, 0);
    await target.close();
  });
});
