import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { copyDataDir } from "../server/data-dir.ts";
import { type ServerProcess, startServer } from "../server/server-process.ts";
import { createTestDatabase } from "../test-database.ts";

const TOKEN = { name: "Replicate", value: "Bearer sk_live_canary" };

describe("the vault of the built server", () => {
  let dataDir: string;
  const servers: ServerProcess[] = [];
  const start = async (environment: Record<string, string>) => {
    const server = await startServer({ LOG_LEVEL: "trace", ...environment });
    servers.push(server);
    return server;
  };
  const stopAll = async () => {
    for (const server of servers.splice(0)) {
      server.signal("SIGTERM");
      await server.exited;
    }
  };

  before(async () => {
    dataDir = await copyDataDir();
  });
  after(() => rm(dataDir, { recursive: true, force: true }));
  afterEach(stopAll);

  it("creates its key with the embedded database, keeps it, and logs no credential", async () => {
    const first = await start({ BELLHOP_DATA_DIR: dataDir });
    const created = await first.api("POST", "/v1/tokens", TOKEN);
    const headers = { "X-Credential": created.json.token?.id };
    const call = { method: "GET", targetUrl: `${first.url}/healthz`, headers };
    const { task } = await first.create(call);
    const called = await first.ended(task.id);
    const printed = first.stdout + first.stderr;
    await stopAll();
    const second = await start({ BELLHOP_DATA_DIR: dataDir });
    const listed = await second.api("GET", "/v1/tokens");

    assert.equal(created.status, 201);
    assert.equal(called.status, "completed", JSON.stringify(called));
    // An orderly stop has written the use.
    const [{ lastUsedAt }] = listed.json.tokens;
    assert.deepEqual(listed.json, { tokens: [{ ...created.json.token, lastUsedAt }] });
    assert.ok(Date.now() - Date.parse(lastUsedAt) < 60_000, lastUsedAt);
    assert.ok((await readdir(dataDir)).includes("vault-keys"));
    assert.equal((await stat(join(dataDir, "vault-keys"))).mode & 0o777, 0o600);
    assert.ok(!(printed + second.stdout + second.stderr).includes("canary"));
    assert.doesNotMatch(second.stderr, /vault\.keys_missing/);
  });

  it("names the missing keys when the operator sets another one", async () => {
    const key = randomBytes(32).toString("base64");
    const server = await start({ BELLHOP_DATA_DIR: dataDir, BELLHOP_VAULT_KEYS: `other:${key}` });

    assert.equal((await server.api("GET", "/v1/tokens")).status, 200);
    await stopAll();
    assert.match(server.stderr, /"keys":\["key-[0-9a-f]{8}"\],"msg":"vault\.keys_missing"/);
    assert.match(
      server.stdout,
      /^ {2}vault {5}the key key-[0-9a-f]{8} is missing.*\n.* Set BELLHOP_VAULT_KEYS with/m,
    );
    assert.ok(!server.stderr.includes(key));
  });

  it("names the missing key and its file when restored without the key file", async () => {
    await rm(join(dataDir, "vault-keys"));
    const server = await start({ BELLHOP_DATA_DIR: dataDir });

    assert.match(
      server.stdout,
      /^ {2}vault {5}the key key-[0-9a-f]{8} is missing: stored credentials .*\n +Add this key to .*\/vault-keys/m,
    );
  });

  it("answers 503 without BELLHOP_VAULT_KEYS on an external database, and names a key that is missing later", async () => {
    const test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    const DATABASE_URL = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
    const put = async (environment: Record<string, string>) => {
      const server = await start({ DATABASE_URL, ...environment });
      const { status } = await server.api("POST", "/v1/tokens", TOKEN);
      await stopAll();
      return { status, stdout: server.stdout };
    };
    const fresh = await put({});
    const keyed = await put({ BELLHOP_VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}` });
    const restored = await start({ DATABASE_URL });
    await stopAll();
    await test.drop();

    assert.deepEqual([fresh.status, keyed.status], [503, 201]);
    assert.match(fresh.stdout, /^ {2}vault {5}off: .*\n +Create a key with: /m);
    assert.match(
      restored.stdout,
      /^ {2}vault {5}the key k1 is missing: stored credentials are encrypted with it .*\n +Set BELLHOP_VAULT_KEYS with this key/m,
    );
    assert.doesNotMatch(restored.stdout, /Create a key/);
    assert.match(restored.stderr, /"keys":\["k1"\],"msg":"vault\.keys_missing"/);
  });

  it("answers 503 when it is off", async () => {
    const server = await start({ BELLHOP_DATA_DIR: dataDir, BELLHOP_VAULT_KEYS: "off" });
    assert.equal((await server.api("POST", "/v1/tokens", TOKEN)).status, 503);
  });
});
