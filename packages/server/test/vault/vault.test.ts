import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { inspect } from "node:util";
import { Problem } from "../../src/domain/problem.ts";
import { formatId, parseId } from "../../src/domain/public-id.ts";
import { reachOf } from "../../src/domain/reach.ts";
import { Secret } from "../../src/domain/secret.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { createVaultService } from "../../src/service/vault/vault-service.ts";
import { insertTeam } from "../../src/store/identity/teams.ts";
import { SealError } from "../../src/vault/cipher.ts";
import { parseKeyRing } from "../../src/vault/key-ring.ts";
import { findMissingKeys } from "../../src/vault/missing-keys.ts";
import { createVault, type Resolved, type Vault } from "../../src/vault/vault.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { principalOf } from "../test-principal.ts";
import { type WatchedDatabase, watchDatabase } from "../test-sql.ts";

const VALUE = "Bearer sk_live_canary";
const URL_ANYWHERE = "https://api.example.com/";
const live = (teamId: number) => reachOf(teamId, false);
const newRing = (id: string) => parseKeyRing(`${id}:${randomBytes(32).toString("base64")}`);

describe("the vault", () => {
  let test: TestDatabase;
  let sql: WatchedDatabase;
  let vault: Vault;
  let team: number;
  let otherTeam: number;
  const keyRing = newRing("k1");

  before(async () => {
    test = await createTestDatabase();
    sql = watchDatabase(test.database);
    vault = createVault({ sql, keyRing });
  });
  after(() => test.drop());
  beforeEach(async () => {
    team = await insertTeam(sql, "Ours", "free");
    otherTeam = await insertTeam(sql, "Theirs", "free");
    sql.texts.length = 0;
  });

  const put = (owner = team, value = VALUE, hosts: string[] | null = null) =>
    vault.put(live(owner), "Replicate", new Secret(value), hosts);
  const resolveOne = async (owner: number, tokenId: string, by = vault) =>
    show((await by.resolve(owner, [tokenId])).get(tokenId));
  /** Swaps what is sealed in two rows. */
  const swap = (a: string, b: string) =>
    sql.rows(
      `update vault_tokens t set sealed = o.sealed from vault_tokens o
        where t.id = any($1::uuid[]) and o.id = any($1::uuid[]) and t.id <> o.id`,
      [[parseId("tok", a), parseId("tok", b)]],
    );

  it("gives a token an id and keeps its name", async () => {
    const token = await put();

    assert.match(token.id, /^tok_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    assert.deepEqual(
      { ...token, createdAt: null },
      {
        id: token.id,
        name: "Replicate",
        allowedHosts: null,
        createdAt: null,
        lastUsedAt: null,
      },
    );
    assert.ok(token.createdAt instanceof Date);
  });

  it("stores the credential encrypted: no column has it in any encoding", async () => {
    await put();
    const rows = await sql.rows<{ row: string; raw: string }>(
      "select t::text as row, encode(sealed, 'escape') as raw from vault_tokens t where team_id = $1",
      [team],
    );

    const shown = JSON.stringify(rows);
    for (const spelling of [VALUE, "canary", Buffer.from(VALUE).toString("hex")]) {
      assert.equal(rows.length, 1);
      assert.ok(!shown.includes(spelling));
    }
  });

  it("returns the credential for a call as a Secret", async () => {
    const token = await put(team, VALUE, ["api.example.com"]);
    const resolved = (await vault.resolve(team, [token.id])).get(token.id);

    assert.ok(typeof resolved === "object");
    assert.equal(resolved.value.reveal(), VALUE);
    assert.deepEqual(resolved.allowedHosts, ["api.example.com"]);
    assert.ok(!inspect(resolved, { showHidden: true, depth: 10 }).includes("canary"));
  });

  it("resolves several tokens at once, with the state of each", async () => {
    const [a, b, gone, theirs] = [await put(), await put(team, "two"), await put(), await put(otherTeam)];
    await vault.revoke(live(team), gone.id);
    const missing = formatId("tok", newUuid());
    const ids = [a.id, b.id, gone.id, theirs.id, missing, "tok_nonsense", a.id];

    const resolved = await vault.resolve(team, ids);

    assert.deepEqual(Object.fromEntries([...resolved].map(([id, each]) => [id, show(each)])), {
      [a.id]: VALUE,
      [b.id]: "two",
      [gone.id]: "<revoked>",
      [theirs.id]: "<unknown>",
      [missing]: "<unknown>",
      tok_nonsense: "<unknown>",
    });
    assert.equal((await vault.resolve(team, [])).size, 0);
  });

  it("reads the ciphertext only for a call, not to create, list, check or revoke", async () => {
    const token = await put();
    await vault.list(live(team));
    await vault.check(live(team), [{ header: "Authorization", tokenId: token.id }], URL_ANYWHERE);
    await vault.revoke(live(team), token.id);

    for (const text of sql.texts) assert.doesNotMatch(text, /select[^;]*\bsealed\b/);
  });

  it("lists the active tokens of the team, newest first", async () => {
    const [first, second, third] = [await put(), await put(team, "x", ["a.example"]), await put()];
    await put(otherTeam);
    await vault.revoke(live(team), third.id);

    assert.deepEqual(await vault.list(live(team)), [second, first]);
  });

  it("revokes a token once, and erases the credential", async () => {
    const token = await put();

    const revoked = await vault.revoke(live(team), token.id);

    assert.equal(revoked?.id, token.id);
    assert.equal(revoked.name, "Replicate");
    assert.ok(revoked.revokedAt >= token.createdAt);
    assert.equal(await vault.revoke(live(team), token.id), null);
    assert.equal(await resolveOne(team, token.id), "<revoked>");
    const rows = await sql.rows("select sealed from vault_tokens where team_id = $1", [team]);
    assert.deepEqual(rows, [{ sealed: null }]);
  });

  it("hides a token from other teams in every operation", async () => {
    const token = await put();

    assert.deepEqual(await vault.list(live(otherTeam)), []);
    assert.equal(await resolveOne(otherTeam, token.id), "<unknown>");
    assert.equal(await vault.revoke(live(otherTeam), token.id), null);
    const references = [{ header: "Authorization", tokenId: token.id }];
    await assert.rejects(vault.check(live(otherTeam), references, URL_ANYWHERE), {
      code: "vault_token_unknown",
    });
    assert.equal(await resolveOne(team, token.id), VALUE);
  });

  it("refuses unknown, revoked and foreign tokens, with header and id", async () => {
    const [active, revoked, foreign] = [await put(), await put(), await put(otherTeam)];
    await vault.revoke(live(team), revoked.id);
    const missing = formatId("tok", newUuid());
    for (const tokenId of [revoked.id, foreign.id, missing, "tok_abc123", "tok_", "tok_\u0000"]) {
      const references = [
        { header: "Authorization", tokenId: active.id },
        { header: "X-API-Key", tokenId },
      ];
      await assert.rejects(vault.check(live(team), references, URL_ANYWHERE), {
        status: 400,
        message: `Header "X-API-Key" references unknown vault token "${tokenId}"`,
      });
    }
  });

  it("accepts several tokens, and the same one twice", async () => {
    const [a, b] = [await put(), await put()];

    await vault.check(
      live(team),
      [
        { header: "A", tokenId: a.id },
        { header: "B", tokenId: b.id },
        { header: "C", tokenId: a.id },
      ],
      URL_ANYWHERE,
    );
  });

  it("refuses a token for a host that is not allowed", async () => {
    const { id } = await put(team, VALUE, ["api.example.com", "*.replicate.com"]);
    const references = [{ header: "Authorization", tokenId: id }];

    await vault.check(live(team), references, "https://api.example.com/v1");
    await vault.check(live(team), references, "https://api.replicate.com/v1");
    await assert.rejects(vault.check(live(team), references, "https://evil.example:444/v1?q"), {
      status: 400,
      message: `Header "Authorization" references vault token "${id}", which may not be sent to "evil.example:444"`,
    });
  });

  it("does not decrypt a ciphertext that was swapped between rows of a team", async () => {
    const [a, b] = [await put(team, "a's"), await put(team, "b's")];
    await swap(a.id, b.id);

    assert.equal(await resolveOne(team, a.id), "<unreadable>");
    assert.equal(await resolveOne(team, b.id), "<unreadable>");
    await swap(a.id, b.id);
    assert.equal(await resolveOne(team, a.id), "a's");
  });

  it("does not decrypt a row that was moved to another team", async () => {
    const token = await put();
    await sql.rows("update vault_tokens set team_id = $2 where team_id = $1", [team, otherTeam]);

    assert.equal(await resolveOne(otherTeam, token.id), "<unreadable>");
    assert.equal(await resolveOne(team, token.id), "<unknown>");
  });

  it("does not decrypt a changed ciphertext, and still resolves the others", async () => {
    const [a, b] = [await put(), await put()];
    await sql.rows(
      "update vault_tokens set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where id = $1",
      [parseId("tok", a.id)],
    );

    const resolved = await vault.resolve(team, [a.id, b.id]);

    assert.equal(resolved.get(a.id), "unreadable");
    assert.equal(show(resolved.get(b.id)), VALUE);
  });

  it("does not decrypt with a wrong key, and reports missing keys", async () => {
    const token = await put();
    const impostor = createVault({ sql, keyRing: newRing("k1") });
    const stranger = createVault({ sql, keyRing: newRing("k2") });

    assert.equal(await resolveOne(team, token.id, impostor), "<unreadable>");
    assert.equal(await resolveOne(team, token.id, stranger), "<unreadable>");
    assert.deepEqual(await findMissingKeys(sql, newRing("k2")), ["k1"]);
    assert.deepEqual(await findMissingKeys(sql, null), ["k1"]);
    assert.deepEqual(await findMissingKeys(sql, keyRing), []);
  });

  it("encrypts other texts, each bound to its purpose, team and row", async () => {
    const sealed = vault.sealText("callback", team, "task-1", "c0ffee");

    assert.ok(!sealed.includes("c0ffee"));
    assert.equal(vault.openText("callback", team, "task-1", sealed), "c0ffee");
    assert.throws(() => vault.openText("callback", team, "task-2", sealed), SealError);
    assert.throws(() => vault.openText("callback", otherTeam, "task-1", sealed), SealError);
  });

  it("refuses everything without a key, except calls without tokens", async () => {
    const token = await put();
    const off = createVault({ sql, keyRing: null });
    const references = [{ header: "Authorization", tokenId: token.id }];
    const refused = { status: 503, message: "Token vault is not configured", retryAfterSeconds: null };

    assert.equal(off.isOpen, false);
    await assert.rejects(off.put(live(team), "x", new Secret("y"), null), refused);
    await assert.rejects(off.list(live(team)), refused);
    await assert.rejects(off.find(live(team), token.id), refused);
    await assert.rejects(off.revoke(live(team), token.id), refused);
    await assert.rejects(off.check(live(team), references, URL_ANYWHERE), refused);
    await assert.rejects(off.resolve(team, [token.id]), refused);
    assert.throws(() => off.sealText("callback", team, "t", "x"), refused);
    assert.throws(() => off.openText("callback", team, "t", Buffer.alloc(0)), refused);
    await off.check(live(team), [], URL_ANYWHERE);
  });

  it("does not resolve a sandbox token for a call, and hides it outside of the sandbox", async () => {
    const sandbox = reachOf(team, true);
    const live = await put();
    const { id } = await vault.put(sandbox, "Sandbox", new Secret(VALUE), null);
    const named = [{ header: "Authorization", tokenId: id }];

    assert.equal(await resolveOne(team, id), "<unknown>");
    assert.deepEqual(
      [(await vault.list(sandbox)).length, await vault.list(reachOf(team, false))],
      [1, [live]],
    );
    assert.equal(await vault.find(reachOf(team, false), id), null);
    assert.equal(await vault.revoke(reachOf(team, false), id), null);
    await assert.rejects(vault.check(reachOf(team, false), named, URL_ANYWHERE), {
      code: "vault_token_unknown",
    });
    await vault.check(sandbox, [...named, { header: "X-API-Key", tokenId: live.id }], URL_ANYWHERE);
    assert.equal((await vault.revoke(sandbox, id))?.id, id);
  });

  it("answers alike for a foreign, unknown, malformed and revoked id", async () => {
    const service = createVaultService({ vault, database: sql });
    const principal = principalOf(team);
    const [foreign, revoked] = [await put(otherTeam), await put()];
    await service.revoke(principal, revoked.id);

    for (const id of [foreign.id, revoked.id, formatId("tok", newUuid()), "tok_x", "", "\u0000"]) {
      await assert.rejects(service.revoke(principal, id), (error: unknown) => {
        assert.ok(error instanceof Problem);
        assert.deepEqual([error.status, error.message], [404, "Token not found or already revoked"]);
        return true;
      });
    }
    assert.equal(await resolveOne(otherTeam, foreign.id), VALUE);
  });
});

function show(resolved: Resolved | undefined): string {
  return typeof resolved === "object" ? resolved.value.reveal() : `<${resolved}>`;
}
