import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { reachOf } from "../../src/domain/reach.ts";
import { Secret } from "../../src/domain/secret.ts";
import { insertTeam } from "../../src/store/identity/teams.ts";
import { parseKeyRing } from "../../src/vault/key-ring.ts";
import { createVault } from "../../src/vault/vault.ts";
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

  it("makes its key on the embedded database, keeps it, and says the credential nowhere", async () => {
    const first = await start({ BELLHOP_DATA_DIR: dataDir });
    const created = await first.api("POST", "/v1/tokens", TOKEN);
    const headers = { "X-Credential": created.json.token?.id };
    const call = { method: "GET", targetUrl: `${first.url}/healthz`, headers };
    const task = await first.api("POST", "/v1/tasks", call);
    const called = await first.api("GET", `/v1/tasks/${task.json.task?.id}?wait=20`);
    const printed = first.stdout + first.stderr;
    await stopAll();
    const second = await start({ BELLHOP_DATA_DIR: dataDir });
    const listed = await second.api("GET", "/v1/tokens");

    assert.equal(created.status, 201);
    assert.equal(called.json.task?.status, "completed");
    // An orderly stop has written the use.
    const [{ lastUsedAt }] = listed.json.tokens;
    assert.deepEqual(listed.json, { tokens: [{ ...created.json.token, lastUsedAt }] });
    assert.ok(Date.now() - Date.parse(lastUsedAt) < 60_000, lastUsedAt);
    assert.ok((await readdir(dataDir)).includes("vault-keys"));
    assert.equal((await stat(join(dataDir, "vault-keys"))).mode & 0o777, 0o600);
    assert.ok(!(printed + second.stdout + second.stderr).includes("canary"));
    assert.doesNotMatch(second.stderr, /vault\.keys_missing/);
  });

  it("says which keys are missing when the operator sets another one", async () => {
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

  it("restored without its key file, names the missing key and the file that it belongs in", async () => {
    await rm(join(dataDir, "vault-keys"));
    const server = await start({ BELLHOP_DATA_DIR: dataDir });

    assert.match(
      server.stdout,
      /^ {2}vault {5}the key key-[0-9a-f]{8} is missing: stored credentials .*\n +Add this key to .*\/vault-keys/m,
    );
  });

  it("restored without BELLHOP_VAULT_KEYS, names the missing key and does not suggest a new one", async () => {
    const test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    const DATABASE_URL = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
    const fresh = await start({ DATABASE_URL });
    await stopAll();
    const team = await insertTeam(test.database, "Ours", "free");
    const keyRing = parseKeyRing(`k1:${randomBytes(32).toString("base64")}`);
    await createVault({ sql: test.database, keyRing }).put(
      reachOf(team, false),
      TOKEN.name,
      new Secret(TOKEN.value),
      null,
    );
    const restored = await start({ DATABASE_URL });
    await stopAll();
    await test.drop();

    assert.match(fresh.stdout, /^ {2}vault {5}off: .*\n +Create a key with: /m);
    assert.match(
      restored.stdout,
      /^ {2}vault {5}the key k1 is missing: stored credentials are encrypted with it .*\n +Set BELLHOP_VAULT_KEYS with this key/m,
    );
    assert.doesNotMatch(restored.stdout, /Make a key/);
    assert.match(restored.stderr, /"keys":\["k1"\],"msg":"vault\.keys_missing"/);
  });

  it("off, or with DATABASE_URL and no keys, answers 503", async () => {
    const test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    const url = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
    const key = `a:${randomBytes(32).toString("base64")}`;
    const status = async (environment: Record<string, string>) => {
      const server = await start(environment);
      const answer = await server.api("POST", "/v1/tokens", TOKEN);
      await stopAll();
      return answer.status;
    };

    assert.equal(await status({ BELLHOP_DATA_DIR: dataDir, BELLHOP_VAULT_KEYS: "off" }), 503);
    assert.equal(await status({ DATABASE_URL: url }), 503);
    assert.equal(await status({ DATABASE_URL: url, BELLHOP_VAULT_KEYS: key }), 201);
    await test.drop();
  });
});
