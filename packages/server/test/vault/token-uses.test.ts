import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parseId } from "../../src/domain/public-id.ts";
import type { Reach } from "../../src/domain/reach.ts";
import { Secret } from "../../src/domain/secret.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { countTokenTasks, writeTokenUses } from "../../src/store/vault/token-uses.ts";
import { principalOf } from "../test-principal.ts";
import { openTestServer, type TestServer } from "../test-server.ts";

describe("vault token usage", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ maxRetries: 0 });
  });
  after(() => server.close());

  const put = async (owner: Reach = server.principal) =>
    (await server.vault.put(owner, "vendor", new Secret("Bearer sk"), null)).id;
  const naming = (tokenId: string, body = "{}"): Partial<TaskRequest> => ({
    call: {
      method: "POST",
      url: server.target.url,
      headers: { Accept: "*/*", Authorization: tokenId },
      body,
    },
  });
  const lastUsed = async (tokenId: string) =>
    (await server.vault.find(server.principal, tokenId))?.lastUsedAt ?? null;
  const write = () => server.engine.actors.all.find(({ name }) => name === "vault-uses")?.once();
  const use = async (tokenId: string) => {
    await server.submit(naming(tokenId));
    await server.dispatchOnce();
  };

  it("is written by the next round, with the time of the call", async () => {
    const [used, unused] = [await put(), await put()];
    await use(used);
    assert.equal(await lastUsed(used), null);
    server.freeze(3);

    assert.equal(await write(), 60_000);

    const agoMs = Date.now() - Number(await lastUsed(used));
    assert.ok(agoMs > 2_500 && agoMs < 60_000, `${agoMs} ms ago`);
    assert.equal(await lastUsed(unused), null);
  });

  it("costs no statement in a round without uses", async () => {
    await server.submit();
    await server.dispatchOnce();
    await server.rest();
    const { begun } = server.databases.chores;

    await write();

    assert.equal(server.databases.chores.begun, begun);
  });

  it("is not written for a call that was refused for a revoked token", async () => {
    const [revoked, other] = [await put(), await put()];
    const id = await server.submit({
      call: { method: "POST", url: server.target.url, headers: { A: other, B: revoked }, body: "" },
      delaySeconds: 5,
    });
    await server.vault.revoke(server.principal, revoked);
    await server.advance(5);
    await server.dispatchOnce();
    await write();

    assert.equal((await server.task(id)).failureReason, "token_revoked");
    assert.equal(await lastUsed(other), null);
  });

  it("is written in the next round when the token is locked, without delay for others", async () => {
    const [held, free] = [await put(), await put()];
    await use(held);
    await use(free);

    await server.database.transaction(async (sql) => {
      await sql.rows("select 1 from vault_tokens where id = $1 for update", [parseId("tok", held)]);
      await write();
    });
    assert.deepEqual([await lastUsed(held), (await lastUsed(free)) !== null], [null, true]);
    await write();
    assert.ok((await lastUsed(held)) !== null);
  });

  it("is written after a round that failed for lack of a database", async () => {
    const token = await put();
    await use(token);
    const { chores } = server.databases;
    const { before: pass } = chores;
    chores.before = () => assert.fail("away");
    try {
      await assert.rejects(async () => write());
    } finally {
      chores.before = pass;
    }
    await write();
    assert.ok((await lastUsed(token)) !== null);
  });

  it("never goes back: the later use of two nodes counts, whichever writes last", async () => {
    const token = await put();
    const { teamId } = server.principal;
    const id = parseId("tok", token) ?? "";
    await writeTokenUses(server.database, [{ teamId, id, agoMs: 1000 }]);
    const later = await lastUsed(token);
    assert.deepEqual(await writeTokenUses(server.database, [{ teamId, id, agoMs: 60_000 }]), [id]);
    assert.deepEqual(await lastUsed(token), later);
    assert.deepEqual(await writeTokenUses(server.database, [{ teamId: teamId + 1, id, agoMs: 0 }]), []);
  });

  it("counts the team's open tasks that name the token in a header, up to a limit", async () => {
    const [token, other] = [await put(), await put()];
    await use(token);
    const delayed = { delaySeconds: 3600 };
    const guest = await server.openTeam();
    await server.submit({ ...naming(await put(guest)), ...delayed }, guest);
    await server.submit({ ...naming(token), ...delayed });
    await server.submit({ ...naming(token), ...delayed, shape: "direct" });
    await server.submit({ ...naming(token), waitForCallback: true });
    await server.dispatchOnce();
    await server.submit(
      { ...naming(token), ...delayed },
      principalOf(server.principal.teamId, { environment: "test" }),
    );
    // A body is sent as it is: an id in it names nothing.
    await server.submit({ ...naming(other, JSON.stringify({ token })), ...delayed });

    const count = (tokenId: string, most: number, reach = server.principal) =>
      countTokenTasks(server.database, reach, tokenId, most);
    assert.deepEqual(await count(token, 4), { count: 3, isCapped: false });
    assert.deepEqual(await count(other, 4), { count: 1, isCapped: false });
    assert.deepEqual(await count(token, 4, guest), { count: 0, isCapped: false });
    assert.equal((await count(token, 3)).isCapped, true);
    const { isCapped, count: found } = await count(token, 1);
    assert.ok(isCapped && found <= 2, `${found}`);
  });
});
