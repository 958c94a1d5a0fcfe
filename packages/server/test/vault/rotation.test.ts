import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, it } from "node:test";
import { parseId } from "../../src/domain/public-id.ts";
import { reachOf } from "../../src/domain/reach.ts";
import { Secret } from "../../src/domain/secret.ts";
import { createSigningSecretService } from "../../src/service/vault/signing-secret-service.ts";
import { insertTeam } from "../../src/store/identity/teams.ts";
import { SealError, unseal } from "../../src/vault/cipher.ts";
import { parseKeyRing } from "../../src/vault/key-ring.ts";
import { createRotation } from "../../src/vault/rotation.ts";
import { createVault, tokenContext, type Vault } from "../../src/vault/vault.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { openTestServer, plainRequest } from "../test-server.ts";
import { type WatchedDatabase, watchDatabase } from "../test-sql.ts";

const OLD = `old:${randomBytes(32).toString("base64")}`;
const NEW = `new:${randomBytes(32).toString("base64")}`;
const before = parseKeyRing(OLD);
const during = parseKeyRing(`${NEW},${OLD}`);
const after = parseKeyRing(NEW);

describe("key rotation", () => {
  let test: TestDatabase;
  let sql: WatchedDatabase;
  let teams: number[];
  /** Token id by value. */
  let tokens: Map<string, { readonly teamId: number; readonly id: string }>;

  beforeEach(async () => {
    test = await createTestDatabase();
    sql = watchDatabase(test.database);
    teams = [await insertTeam(sql, "A", "free"), await insertTeam(sql, "B", "free")];
    tokens = new Map();
  });
  afterEach(() => test.drop());

  async function store(count: number, keyRing = before): Promise<void> {
    const vault = createVault({ sql, keyRing });
    for (let index = 0; index < count; index += 1) {
      const teamId = teams[index % 2] ?? 0;
      const value = `value ${tokens.size}`;
      const { id } = await vault.put(reachOf(teamId, false), "x", new Secret(value), null);
      tokens.set(value, { teamId, id });
    }
  }

  async function assertReadable(vault: Vault): Promise<void> {
    for (const [value, { teamId, id }] of tokens) {
      const resolved = (await vault.resolve(teamId, [id])).get(id);
      assert.ok(typeof resolved === "object", `${value} is ${resolved}`);
      assert.equal(resolved.value.reveal(), value);
    }
  }

  const keysInUse = async () =>
    (await sql.rows<{ key_id: string }>("select distinct key_id from vault_tokens order by 1")).map(
      (row) => row.key_id,
    );

  it("re-encrypts every token with the first key, in batches, until the old key can go", async () => {
    await store(5);
    const rotation = createRotation({ sql, keyRing: during });

    assert.deepEqual(await rotation.rotateOnce(2), { resealed: 2, unreadable: 0, done: false });
    assert.deepEqual(await keysInUse(), ["new", "old"]);
    assert.deepEqual(await rotation.rotateOnce(2), { resealed: 2, unreadable: 0, done: false });
    assert.deepEqual(await rotation.rotateOnce(2), { resealed: 1, unreadable: 0, done: true });
    assert.deepEqual(await rotation.rotateOnce(2), { resealed: 0, unreadable: 0, done: true });

    assert.deepEqual(await keysInUse(), ["new"]);
    await assertReadable(createVault({ sql, keyRing: after }));
  });

  it("re-encrypts the tokens of test keys too", async () => {
    const vault = createVault({ sql, keyRing: before });
    const [teamId = 0] = teams;
    const { id } = await vault.put(reachOf(teamId, true), "x", new Secret("of the sandbox"), null);
    const { resealed } = await createRotation({ sql, keyRing: during }).rotateAll();

    const uuid = parseId("tok", id) ?? "";
    const [row] = await sql.rows<{ sealed: Buffer }>("select sealed from vault_tokens where id = $1", [uuid]);
    assert.equal(resealed, 1);
    assert.ok(row);
    assert.equal(unseal(after, tokenContext(teamId, uuid), row.sealed), "of the sandbox");
  });

  it("does not disturb concurrent reads on any node", async () => {
    await store(40);
    const reader = createVault({ sql: test.open(2), keyRing: during });
    let rotated = false;
    let rounds = 0;

    const rotations = Promise.all(
      [1, 2].map(() => createRotation({ sql: test.open(1), keyRing: during }).rotateAll()),
    ).finally(() => {
      rotated = true;
    });
    do {
      await assertReadable(reader);
      rounds += 1;
    } while (!rotated);
    const results = await rotations;

    assert.ok(rounds >= 1);
    // Two nodes at once: each token is resealed by one of them.
    assert.equal(
      results.reduce((sum, { resealed }) => sum + resealed, 0),
      40,
    );
    await assertReadable(createVault({ sql, keyRing: after }));
  });

  it("keeps a token erased that is revoked while it is re-encrypted", async () => {
    await store(1);
    const vault = createVault({ sql: test.database, keyRing: during });
    const [token] = tokens.values();
    assert.ok(token);
    sql.before = async (statement) => {
      if (statement === "reseal_token") await vault.revoke(reachOf(token.teamId, false), token.id);
    };

    const step = await createRotation({ sql, keyRing: during }).rotateOnce();

    assert.deepEqual(step, { resealed: 0, unreadable: 0, done: true });
    assert.equal((await vault.resolve(token.teamId, [token.id])).get(token.id), "revoked");
    assert.deepEqual(await test.database.rows("select key_id, sealed from vault_tokens"), [
      { key_id: "old", sealed: null },
    ]);
  });

  it("skips tokens that cannot be decrypted", async () => {
    await store(4);
    const [first, second] = tokens.values();
    await sql.rows("update vault_tokens set sealed = set_byte(sealed, 30, 0) || '\\x00' where id = any($1)", [
      [first, second].map((token) => parseId("tok", token?.id ?? "")),
    ]);
    const rotation = createRotation({ sql, keyRing: during });
    const steps = [];
    for (let step = 0; step < 5; step += 1) steps.push(await rotation.rotateOnce(1));

    assert.equal(steps.filter(({ resealed }) => resealed === 1).length, 2);
    assert.equal(steps.filter(({ unreadable }) => unreadable === 1).length, 2);
    assert.deepEqual(
      steps.map(({ done }) => done),
      [false, false, false, false, true],
    );
    assert.deepEqual(await rotation.rotateAll(), { resealed: 0, unreadable: 2 });
  });

  it("leaves tokens of a key that is not on the ring unchanged", async () => {
    await store(1, parseKeyRing(`lost:${randomBytes(32).toString("base64")}`));

    assert.deepEqual(await createRotation({ sql, keyRing: during }).rotateAll(), {
      resealed: 0,
      unreadable: 0,
    });
    assert.deepEqual(await keysInUse(), ["lost"]);
  });

  it("continues at once while there is more, and then sleeps for a minute", async () => {
    await store(201);
    const rotation = createRotation({ sql, keyRing: during });

    assert.equal(await rotation.turnOnce(), 0);
    assert.equal(await rotation.turnOnce(), 60_000);
    assert.deepEqual(await keysInUse(), ["new"]);
  });

  it("sends one statement for unencrypted secrets, and then none, while there is one key", async () => {
    await store(1);
    const rotation = createRotation({ sql, keyRing: before });
    sql.sent.length = 0;

    assert.equal(await rotation.turnOnce(), 60_000);
    assert.equal(sql.sent.length, 1);
    assert.equal(await rotation.turnOnce(), 60_000);
    assert.equal(sql.sent.length, 1);
  });

  it("encrypts signing secrets from before the vault, and re-encrypts the others", async () => {
    const [first = 0, second = 0] = teams;
    const secretsOf = (keyRing: typeof before | null) =>
      createSigningSecretService({
        database: sql,
        vault: createVault({ sql, keyRing }),
        monotonicMs: () => 0,
      });
    const open = await secretsOf(null).secretsFor(first);
    const sealed = await secretsOf(before).secretsFor(second);
    const stored = async () =>
      (await sql.rows<{ secret: string }>("select secret from signing_secrets order by team_id")).map(
        ({ secret }) => secret.split(":").slice(0, -1).join(":"),
      );
    assert.deepEqual(await stored(), ["", "sealed:old"]);
    assert.match(open[0] ?? "", /^whsec_/);

    assert.deepEqual(await createRotation({ sql, keyRing: during }).rotateAll(), {
      resealed: 2,
      unreadable: 0,
    });
    assert.deepEqual(await stored(), ["sealed:new", "sealed:new"]);
    assert.deepEqual(await secretsOf(after).secretsFor(first), open);
    assert.deepEqual(await secretsOf(after).secretsFor(second), sealed);
    // In another team's row it opens nothing.
    await sql.rows(
      `update signing_secrets set secret = (select secret from signing_secrets where team_id = $1) where team_id = $2`,
      [first, second],
    );
    await assert.rejects(Promise.resolve(secretsOf(after).secretsFor(second)), SealError);
    await assert.rejects(Promise.resolve(secretsOf(null).secretsFor(first)), { code: "vault_off" });
  });
});

describe("key rotation with tasks that name their callback", () => {
  it("re-encrypts callback ids, and leaves tasks without one unchanged", async () => {
    const server = await openTestServer();
    try {
      const make = (body: string) =>
        server.tasks.create(server.principal, {
          ...plainRequest(server.target.url),
          shape: "direct",
          call: { method: "POST", url: server.target.url, headers: {}, body },
          waitForCallback: true,
          delaySeconds: 3600,
        });
      const named = await make("{callbackId}");
      await make("none");
      const used = `test:${Buffer.alloc(32, 7).toString("base64")}`;
      const rotation = createRotation({ sql: server.database, keyRing: parseKeyRing(`${NEW},${used}`) });

      assert.deepEqual(await rotation.rotateAll(), { resealed: 1, unreadable: 0 });
      const [row] = await server.database.rows<{ team_id: number; id: string; callback_sealed: Buffer }>(
        "select team_id, id, callback_sealed from tasks where callback_sealed is not null",
      );
      assert.ok(row !== undefined);
      const vault = createVault({ sql: server.database, keyRing: after });
      assert.equal(vault.openText("callback", row.team_id, row.id, row.callback_sealed), named.callback?.id);
      assert.deepEqual(await rotation.rotateAll(), { resealed: 0, unreadable: 0 });
    } finally {
      await server.close();
    }
  });
});
