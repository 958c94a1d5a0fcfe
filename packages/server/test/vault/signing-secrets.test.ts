import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createSigningSecretService } from "../../src/service/vault/signing-secret-service.ts";
import { insertTeam } from "../../src/store/identity/teams.ts";
import { createVault } from "../../src/vault/vault.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { principalOf } from "../test-principal.ts";
import { createGate, type WatchedDatabase, watchDatabase } from "../test-sql.ts";

const FRESH_MS = 5_000;

describe("a team's signing secrets", () => {
  let test: TestDatabase;
  let sql: WatchedDatabase;
  let teamId: number;
  let nowMs: number;
  let opened: number;

  beforeEach(async () => {
    test = await createTestDatabase();
    sql = watchDatabase(test.database);
    teamId = await insertTeam(sql, "Team", "free");
    nowMs = 0;
    opened = 0;
  });
  afterEach(() => test.drop());

  function createService() {
    const vault = createVault({ sql, keyRing: null });
    return createSigningSecretService({
      database: sql,
      vault: {
        sealSigningSecret: vault.sealSigningSecret,
        openSigningSecret(...args) {
          opened += 1;
          return vault.openSigningSecret(...args);
        },
      },
      monotonicMs: () => nowMs,
    });
  }

  it("are looked up and decrypted once for all calls during the lookup", async () => {
    const service = createService();
    const first = await service.secretsFor(teamId);
    nowMs += FRESH_MS;
    const [lookups, openings] = [sql.sent.length, opened];

    const found = await Promise.all(Array.from({ length: 20 }, async () => service.secretsFor(teamId)));

    assert.deepEqual(new Set(found.flat()), new Set(first));
    assert.equal(sql.sent.length - lookups, 1);
    assert.equal(opened - openings, 1);
    assert.equal(await service.secretsFor(teamId), found[0]);
    assert.equal(sql.sent.length - lookups, 1);
  });

  it("are looked up again after a failed lookup", async () => {
    const service = createService();
    sql.before = () => {
      throw new Error("away");
    };
    const failed = await Promise.allSettled([service.secretsFor(teamId), service.secretsFor(teamId)]);
    assert.deepEqual(
      failed.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    sql.before = () => {};
    assert.match((await service.secretsFor(teamId))[0] ?? "", /^whsec_/);
  });

  it("are the new ones on the node that rotated them, even during a lookup", async () => {
    const service = createService();
    await service.secretsFor(teamId);
    nowMs += FRESH_MS;
    const gate = createGate();
    // The lookup has read the secret from before the rotation, and its answer comes after it.
    sql.after = () => gate.wait();
    const before = service.secretsFor(teamId);
    await gate.reached;
    sql.after = () => {};
    const { secret } = await service.rotate(principalOf(teamId));
    gate.open();
    await before;
    assert.equal((await service.secretsFor(teamId))[0], secret);
  });
});
