import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { type MintedApiKey, MOST_ACTIVE_KEYS } from "../../../src/domain/identity/api-key.ts";
import type { Principal, Requester } from "../../../src/domain/identity/principal.ts";
import { Problem, type ProblemCode } from "../../../src/domain/problem.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import {
  type ApiKeyService,
  createApiKeyService,
  listTeamKeys,
  newApiKey,
} from "../../../src/service/access/api-key-service.ts";
import { type AuthService, createAuthService } from "../../../src/service/access/auth-service.ts";
import { createFailureLimit } from "../../../src/service/access/failure-limit.ts";
import { createKeyLookup } from "../../../src/service/access/principals.ts";
import { hashSecret } from "../../../src/service/access/secret-hash.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import { ensureOperator, mintFirstKey } from "../../../src/service/operator/operator.ts";
import { deleteMember, ensureMember, updateRole } from "../../../src/store/identity/members.ts";
import { insertAccessToken } from "../../../src/store/identity/oauth-tokens.ts";
import { endSession, insertSession } from "../../../src/store/identity/sessions.ts";
import { insertTeam } from "../../../src/store/identity/teams.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";
import { principalOf } from "../../test-principal.ts";
import type { TextDatabase } from "../../test-sql.ts";

const ADDRESS = "192.0.2.7";

describe("API keys", () => {
  let test: TestDatabase;
  let database: TextDatabase;
  let service: ApiKeyService;
  let ours: Requester;
  let theirs: Requester;
  before(async () => {
    test = await createTestDatabase();
    ({ database } = test);
    service = createApiKeyService({ database });
  });
  after(() => test.drop());
  beforeEach(async () => {
    ours = principalOf(await insertTeam(database, "Ours", "free"));
    theirs = principalOf(await insertTeam(database, "Theirs", "pro"));
  });

  const lookUp = (key: string): Promise<Principal | null> => createKeyLookup(database)(key);
  const namesOf = async (requester: Requester) =>
    (await service.list(requester)).items.map(({ name }) => name);
  const refusedAs = (code: ProblemCode) => (error: unknown) =>
    error instanceof Problem && error.code === code;
  /** So many keys straight into the table. */
  const fill = ({ teamId }: Requester, count: number, revokedAt: Date | null = null) =>
    database.rows(
      `insert into api_keys (id, team_id, name, environment, prefix, hash, revoked_at)
       select gen_random_uuid(), $1, 'filler', 'live', 'bh_live_0000', sha256(gen_random_uuid()::text::bytea), $3
         from generate_series(1, $2)`,
      [teamId, count, revokedAt],
    );

  it("consist of 256 random bits after the prefix of their environment", async () => {
    const live = await service.create(ours, "live one", "live");
    const other = await service.create(ours, "test one", "test");

    assert.match(live.id, /^key_[0-9a-z]{26}$/);
    assert.match(live.key, /^bh_live_[0-9a-f]{64}$/);
    assert.match(other.key, /^bh_test_[0-9a-f]{64}$/);
    assert.notEqual(live.key.slice(8), other.key.slice(8));
    assert.equal(live.prefix, live.key.slice(0, 12));
    assert.equal(other.prefix, other.key.slice(0, 12));
  });

  it("act for their team as an admin if live, and as a member if test", async () => {
    const live = await service.create(ours, "live one", "live");
    const other = await service.create(ours, "test one", "test");

    const [asLive, asTest] = [await lookUp(live.key), await lookUp(other.key)];
    assert.deepEqual(
      [asLive?.teamId, asLive?.id, asLive?.name, asLive?.environment, asLive?.role],
      [ours.teamId, live.id, "live one", "live", "admin"],
    );
    assert.deepEqual([asTest?.teamId, asTest?.environment, asTest?.role], [ours.teamId, "test", "member"]);
  });

  it("are not stored in clear text", async () => {
    const { key, prefix } = await service.create(ours, "canary", "live");
    await service.list(ours);
    await lookUp(key);
    const secret = key.slice(prefix.length);

    for (const table of ["api_keys", "audit_events"]) {
      const rows = await database.rows<{ text: string }>(
        `select r::text as text from ${table} r where team_id = $1`,
        [ours.teamId],
      );
      assert.equal(rows.length, 1, table);
      assert.ok(!rows[0]?.text.includes(secret), table);
    }
  });

  it("are listed while active, newest first, with the time of their last use", async () => {
    const first = await service.create(ours, "first", "live");
    const second = await service.create(ours, "second", "test");
    const gone = await service.create(ours, "gone", "live");
    await service.revoke(ours, gone.id);
    await lookUp(first.key);

    const { items: list } = await service.list(ours);

    assert.deepEqual(
      list.map(({ name }) => name),
      ["second", "first"],
    );
    const { key: _, ...shown } = second;
    assert.deepEqual(list[0], { ...shown, lastUsedAt: null });
    const usedAgo = Date.now() - Number(list[1]?.lastUsedAt);
    assert.ok(usedAgo >= -1000 && usedAgo < 60_000, String(usedAgo));
  });

  it("cannot be listed or revoked by another team", async () => {
    const key = await service.create(ours, "ours", "live");
    await service.create(theirs, "theirs", "live");

    assert.deepEqual(await namesOf(theirs), ["theirs"]);
    await assert.rejects(service.revoke(theirs, key.id), refusedAs("api_key_not_found"));
    assert.deepEqual(await namesOf(ours), ["ours"]);
    assert.equal((await lookUp(key.key))?.teamId, ours.teamId);
  });

  it("are refused after they were revoked, and cannot be revoked twice", async () => {
    const { id, key } = await service.create(ours, "old", "live");

    const revoked = await service.revoke(ours, id);

    assert.deepEqual([revoked.id, revoked.name], [id, "old"]);
    assert.ok(Math.abs(Date.now() - revoked.revokedAt.getTime()) < 60_000);
    assert.equal(await lookUp(key), null);
    await assert.rejects(service.revoke(ours, id), refusedAs("api_key_not_found"));
  });

  it("are revoked once when two requests race", async () => {
    const { id } = await service.create(ours, "old", "live");

    const answers = await Promise.allSettled([service.revoke(ours, id), service.revoke(ours, id)]);

    assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    const [events] = await database.rows<{ count: number }>(
      "select count(*)::integer from audit_events where target = $1 and action = 'api_key.revoked'",
      [id],
    );
    assert.equal(events?.count, 1);
  });

  it("are not found by an unknown or malformed id", async () => {
    for (const id of [
      formatId("key", newUuid()),
      formatId("user", newUuid()),
      newUuid(),
      "key_x",
      "",
      "\0",
    ]) {
      await assert.rejects(service.revoke(ours, id), refusedAs("api_key_not_found"), id);
    }
  });

  it("cannot be created by a caller that has just lost its role or key", async () => {
    const { teamId } = ours;
    const userId = await ensureMember(database, teamId, newUuid(), "eve@example.test", "admin");
    const eve: Requester = { ...ours, kind: "session", id: formatId("user", userId), userId };
    const own = await service.create(eve, "before", "live");
    const revoked: Requester = { ...ours, id: own.id };
    await service.create(revoked, "made by the key", "live");

    await service.revoke(ours, own.id);
    await assert.rejects(service.create(revoked, "after", "live"), refusedAs("api_key_invalid"));
    await updateRole(database, teamId, userId, "member");
    await assert.rejects(service.create(eve, "after", "live"), refusedAs("role_missing"));
    await deleteMember(database, teamId, userId);
    await assert.rejects(service.create(eve, "after", "live"), refusedAs("token_invalid"));

    assert.deepEqual(await namesOf(ours), ["made by the key"]);
  });

  it("cannot be created by a session or an application that has just ended", async () => {
    const { teamId } = ours;
    const userId = await ensureMember(database, teamId, newUuid(), "mallory@example.test", "admin");
    const [sessionHash, accessHash] = [hashSecret("session"), hashSecret("access")];
    const expiresAt = new Date(Date.now() + 60_000);
    await insertSession(database, { hash: sessionHash, userId, teamId, expiresAt, isBound: false });
    const applicationId = newUuid();
    await database.rows(
      `insert into oauth_applications (id, team_id, name, secret_hash, redirect_uris, scopes, grant_types)
       values ($1, $2, 'Robot', $3, '{}', '{apikeys:write}', '{client_credentials}')`,
      [applicationId, teamId, accessHash],
    );
    await insertAccessToken(database, {
      id: newUuid(),
      accessHash,
      applicationId,
      teamId,
      userId: null,
      codeHash: null,
      scopes: ["apikeys:write"],
      grantedScopes: null,
      accessValidSeconds: 60,
      refreshHash: null,
      refreshValidDays: 0,
    });
    const person: Requester = { ...ours, kind: "session", userId, tokenHash: sessionHash };
    const robot: Requester = { ...ours, kind: "application", tokenHash: accessHash };
    for (const requester of [person, robot]) await service.create(requester, "before", "live");

    await endSession(database, sessionHash);
    await database.rows("delete from oauth_applications where id = $1", [applicationId]);

    for (const requester of [person, robot])
      await assert.rejects(service.create(requester, "after", "live"), refusedAs("token_invalid"));
  });

  it("are limited to 100 active ones per team, even with concurrent requests", async () => {
    await fill(ours, MOST_ACTIVE_KEYS - 1);
    await fill(ours, 50, new Date());
    await fill(theirs, MOST_ACTIVE_KEYS);

    const asked = await Promise.allSettled(
      ["a", "b", "c", "d"].map((name) => service.create(ours, name, "live")),
    );

    const refused = asked.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    assert.equal(refused.length, 3);
    for (const { status, message } of refused) {
      assert.equal(status, 409);
      assert.equal(message, "A team can have at most 100 active API keys: revoke one first");
    }
    assert.equal((await service.list(ours)).items.length, MOST_ACTIVE_KEYS);
    const [made] = asked.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    await service.revoke(ours, made?.id ?? "");
    await service.create(ours, "again", "live");
  });

  describe("on several nodes", () => {
    /** Nodes with a clock that the test moves, on one database. */
    let nowMs: number;
    let nodes: readonly AuthService[];
    let asked: number;
    beforeEach(() => {
      nowMs = 5_000;
      asked = 0;
      nodes = [1, 2].map(() => {
        const look = createKeyLookup(test.open(1));
        const monotonicMs = () => nowMs;
        return createAuthService({
          findKey: (key) => {
            asked += 1;
            return look(key);
          },
          findToken: async () => null,
          failures: createFailureLimit({ monotonicMs }),
          monotonicMs,
        });
      });
    });

    const authenticate = (node: AuthService, { key }: MintedApiKey) => node.authenticate(key, ADDRESS);

    async function assertRefusedEverywhere(minted: MintedApiKey): Promise<void> {
      for (const node of nodes) {
        assert.equal(node.recall(minted.key), null);
        await assert.rejects(authenticate(node, minted), refusedAs("api_key_invalid"));
      }
    }

    it("are refused within a second of the revocation, even if cached", async () => {
      const minted = await service.create(ours, "leaked", "live");
      for (const node of nodes) await authenticate(node, minted);
      assert.equal(asked, 2);

      await service.revoke(ours, minted.id);
      nowMs += 999;
      for (const node of nodes) await authenticate(node, minted);
      assert.equal(asked, 2, "a node that remembers does not ask, or this proves nothing");

      nowMs += 1;
      await assertRefusedEverywhere(minted);
    });

    it("are refused after they revoked themselves", async () => {
      const minted = await service.create(ours, "last words", "live");
      const [node] = nodes;
      assert.ok(node);
      const itself = await authenticate(node, minted);

      await service.revoke({ ...itself, address: ADDRESS, requestId: "r-1" }, minted.id);

      nowMs += 1_000;
      await assertRefusedEverywhere(minted);
      const events = await database.rows<{ actor_id: string; target: string }>(
        "select actor_id, target from audit_events where action = 'api_key.revoked' and team_id = $1",
        [ours.teamId],
      );
      assert.deepEqual(events, [{ actor_id: minted.id, target: minted.id }]);
    });

    it("are cached from the start of their lookup, not from its end", async () => {
      const minted = await service.create(ours, "leaked", "live");
      const [node] = nodes;
      assert.ok(node);
      const looking = authenticate(node, minted);
      // The look takes half a second: what it found counts from when it was begun.
      nowMs += 500;
      await looking;
      await service.revoke(ours, minted.id);

      nowMs += 500;
      await assertRefusedEverywhere(minted);
    });

    it("are accepted by every node at once", async () => {
      const minted = await service.create(ours, "new", "live");
      for (const node of nodes) assert.equal((await authenticate(node, minted)).id, minted.id);
    });
  });

  it("of the operator are listed and revoked, and BELLHOP_API_KEY is restored at a start", async () => {
    const own = await createTestDatabase();
    try {
      const keys = createApiKeyService({ database: own.database });
      const { teamId } = await ensureOperator(own.database, null);
      const firstKey = await mintFirstKey(own.database);
      const operator = principalOf(teamId);
      const [first] = (await keys.list(operator)).items;
      assert.deepEqual([first?.name, first?.prefix], ["First key", firstKey?.slice(0, 12)]);

      const setKey = `bh_live_${"s".repeat(40)}`;
      await ensureOperator(own.database, setKey);
      const [set] = (await keys.list(operator)).items;
      assert.equal(set?.name, "BELLHOP_API_KEY");
      await keys.revoke(operator, set?.id ?? "");
      await ensureOperator(own.database, setKey);
      assert.deepEqual(
        (await keys.list(operator)).items.map(({ id }) => id),
        [set?.id, first?.id],
      );
    } finally {
      await own.drop();
    }
  });

  it("include one first key, which is returned again to the start that created it", async () => {
    const own = await createTestDatabase();
    try {
      const { teamId } = await ensureOperator(own.database, null);
      const key = newApiKey("live");
      assert.equal(await mintFirstKey(own.database, key), key);
      assert.equal(await mintFirstKey(own.database, key), key);
      assert.equal(await mintFirstKey(own.database), null);
      assert.equal((await listTeamKeys(own.database, teamId)).length, 1);
    } finally {
      await own.drop();
    }
  });

  it("set by BELLHOP_API_KEY replace the one set before, and no key of that name", async () => {
    const own = await createTestDatabase();
    try {
      const keys = createApiKeyService({ database: own.database });
      const { teamId } = await ensureOperator(own.database, `bh_live_${"s".repeat(40)}`);
      const operator = principalOf(teamId);
      const namesake = await keys.create(operator, "BELLHOP_API_KEY", "live");

      await ensureOperator(own.database, `bh_live_${"t".repeat(40)}`);

      const prefixes = (await keys.list(operator)).items.map(({ prefix }) => prefix);
      assert.deepEqual(prefixes.sort(), [namesake.prefix, "bh_live_tttt"].sort());
      // Nobody called: the log names the setting. What a start finds as it should be is not recorded again.
      await ensureOperator(own.database, `bh_live_${"t".repeat(40)}`);
      await ensureOperator(own.database, `bh_live_${"s".repeat(40)}`);
      const log = await own.database.rows<{ action: string; actor_kind: string; actor_name: string }>(
        "select action, actor_kind, actor_name from audit_events where actor_kind = 'operator' order by at, id",
      );
      assert.deepEqual(
        log.map(({ action }) => action),
        ["created", "created", "revoked", "restored", "revoked"].map((done) => `api_key.${done}`),
      );
      for (const { actor_name: name } of log) assert.equal(name, "BELLHOP_API_KEY");
    } finally {
      await own.drop();
    }
  });
});
