import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, it } from "node:test";
import { parseId } from "../../src/domain/public-id.ts";
import { Secret } from "../../src/domain/secret.ts";
import { insertTeam } from "../../src/store/identity/teams.ts";
import { parseKeyRing } from "../../src/vault/key-ring.ts";
import { createRotation } from "../../src/vault/rotation.ts";
import { createVault, type Vault } from "../../src/vault/vault.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { type WatchedDatabase, watchDatabase } from "../test-sql.ts";

const OLD = `old:${randomBytes(32).toString("base64")}`;
const NEW = `new:${randomBytes(32).toString("base64")}`;
const before = parseKeyRing(OLD);
const during = parseKeyRing(`${NEW},${OLD}`);
const after = parseKeyRing(NEW);

describe("a change of keys", () => {
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
      const { id } = await vault.put(teamId, "x", new Secret(value), null);
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

  it("reseals every token with the first key, batch by batch, until the old key can go", async () => {
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

  it("reliability 4: under concurrent reads every read finds its value, on any node", async () => {
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

  it("a token revoked while it is being resealed stays wiped", async () => {
    await store(1);
    const vault = createVault({ sql: test.database, keyRing: during });
    const [token] = tokens.values();
    assert.ok(token);
    sql.before = async (statement) => {
      if (statement.includes("set key_id")) await vault.revoke(token.teamId, token.id);
    };

    const step = await createRotation({ sql, keyRing: during }).rotateOnce();

    assert.deepEqual(step, { resealed: 0, unreadable: 0, done: true });
    assert.equal((await vault.resolve(token.teamId, [token.id])).get(token.id), "revoked");
    assert.deepEqual(await test.database.rows("select key_id, sealed from vault_tokens"), [
      { key_id: "old", sealed: null },
    ]);
  });

  it("is not held up by tokens that do not open", async () => {
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

  it("leaves alone what was sealed with a key that is not on the ring", async () => {
    await store(1, parseKeyRing(`lost:${randomBytes(32).toString("base64")}`));

    assert.deepEqual(await createRotation({ sql, keyRing: during }).rotateAll(), {
      resealed: 0,
      unreadable: 0,
    });
    assert.deepEqual(await keysInUse(), ["lost"]);
  });

  it("as an actor goes on at once while there is more, and naps when there is none", async () => {
    await store(201);
    const rotation = createRotation({ sql, keyRing: during });

    assert.equal(await rotation.turnOnce(), 0);
    assert.equal(await rotation.turnOnce(), 60_000);
    assert.deepEqual(await keysInUse(), ["new"]);
  });

  it("asks the database nothing while there is only one key", async () => {
    await store(1);
    sql.sent.length = 0;

    assert.equal(await createRotation({ sql, keyRing: before }).turnOnce(), 60_000);
    assert.deepEqual(sql.sent, []);
  });
});
