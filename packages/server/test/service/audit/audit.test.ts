import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Requester } from "../../../src/domain/identity/principal.ts";
import { Problem } from "../../../src/domain/problem.ts";
import { Secret } from "../../../src/domain/secret.ts";
import { createTaskChanges } from "../../../src/domain/task-changes.ts";
import { formatTaskId } from "../../../src/domain/task-id.ts";
import { type ApiKeyService, createApiKeyService } from "../../../src/service/access/api-key-service.ts";
import { createProviderService } from "../../../src/service/tasks/provider-service.ts";
import { createQueueService, type QueueService } from "../../../src/service/tasks/queue-service.ts";
import { createTaskService, type TaskService } from "../../../src/service/tasks/task-service.ts";
import {
  createSigningSecretService,
  type SigningSecretService,
} from "../../../src/service/vault/signing-secret-service.ts";
import { createVaultService, type VaultService } from "../../../src/service/vault/vault-service.ts";
import { insertTeam } from "../../../src/store/identity/teams.ts";
import { parseKeyRing } from "../../../src/vault/key-ring.ts";
import { createVault } from "../../../src/vault/vault.ts";
import { principalOf } from "../../test-principal.ts";
import { type TextDatabase, type WatchedDatabase, watchDatabase } from "../../test-sql.ts";
import { openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

const VALUE = "Bearer sk_canary";

interface EventRow {
  readonly action: string;
  readonly target: string;
  readonly detail: unknown;
}

/** A change that a service makes, with what it needs to have been there before. */
interface Scene {
  readonly action: string;
  /** Makes what is to be changed; returns what the change will be recorded as, and the change. */
  prepare(): Promise<{
    readonly change: () => Promise<unknown>;
    /** Null where it is known only afterwards. */
    readonly target: string | null;
    readonly detail: unknown;
  }>;
}

describe("an audit event", () => {
  let store: TestStore;
  let database: WatchedDatabase;
  let workerId: number;
  let queues: QueueService;
  let tasks: TaskService;
  let tokens: VaultService;
  let secrets: SigningSecretService;
  let keys: ApiKeyService;
  let actor: Requester;
  let queue: StoredQueue;

  before(async () => {
    store = await openTestStore();
    database = watchDatabase(store.database);
    workerId = await store.openWorker();
    const keyRing = parseKeyRing(`k1:${randomBytes(32).toString("base64")}`);
    const vault = createVault({ sql: database, keyRing });
    queues = createQueueService({ database });
    tasks = createTaskService({
      storageQuota: { admit: () => undefined, reopen: () => undefined, store: () => undefined },
      database,
      submit: async () => null,
      vault,
      providers: createProviderService(null),
      publicUrl: () => "https://bellhop.test",
      changes: createTaskChanges(),
      follow: async () => {},
      onResent: () => {},
    });
    tokens = createVaultService({ vault, database });
    secrets = createSigningSecretService({
      database,
      vault: createVault({ sql: database, keyRing: null }),
      monotonicMs: () => 0,
    });
    keys = createApiKeyService({ database });
  });
  after(() => store.close());
  beforeEach(async () => {
    database.before = () => {};
    database.after = () => {};
    const teamId = await insertTeam(store.database, "Ours", "free");
    actor = principalOf(teamId, { address: "192.0.2.7", requestId: "r-1" });
    queue = await store.openQueue({}, teamId);
  });

  const eventsOf = (teamId: number) =>
    store.database.rows<EventRow>(
      "select action, target, detail from audit_events where team_id = $1 order by id",
      [teamId],
    );

  const scenes: Scene[] = [
    {
      action: "queue.created",
      prepare: async () => ({
        change: () => queues.create(actor, "new", { concurrency: 3, backoff: "fixed", timeoutSeconds: 7 }),
        target: "new",
        detail: { concurrency: 3, retry_backoff: "fixed", timeout: 7 },
      }),
    },
    {
      action: "queue.updated",
      prepare: async () => ({
        change: () => queues.update(actor, queue.name, { maxRetries: 9, retryDelaySeconds: 2 }),
        target: queue.name,
        detail: { max_retries: 9, retry_delay: 2 },
      }),
    },
    {
      action: "queue.paused",
      prepare: async () => ({
        change: () => queues.setPaused(actor, queue.name, true),
        target: queue.name,
        detail: null,
      }),
    },
    {
      action: "queue.resumed",
      async prepare() {
        await queues.setPaused(actor, queue.name, true);
        return {
          change: () => queues.setPaused(actor, queue.name, false),
          target: queue.name,
          detail: null,
        };
      },
    },
    {
      action: "queue.deleted",
      prepare: async () => ({
        change: () => queues.remove(actor, queue.name),
        target: queue.name,
        detail: null,
      }),
    },
    {
      action: "task.deleted",
      async prepare() {
        const [id = ""] = await store.insert(queue, {});
        return { change: () => tasks.remove(actor, id), target: formatTaskId(id), detail: null };
      },
    },
    {
      action: "vault_token.created",
      prepare: async () => ({
        change: () =>
          tokens.create(actor, { name: "Replicate", value: new Secret(VALUE), allowedHosts: ["a.example"] }),
        target: null,
        detail: { name: "Replicate", allowedHosts: ["a.example"] },
      }),
    },
    {
      action: "vault_token.revoked",
      async prepare() {
        const wanted = { name: "Old", value: new Secret(VALUE), allowedHosts: null };
        const { id } = await tokens.create(actor, wanted);
        return { change: () => tokens.revoke(actor, id), target: id, detail: { name: "Old" } };
      },
    },
    {
      action: "signing_secret.rotated",
      async prepare() {
        await secrets.get(actor);
        return { change: () => secrets.rotate(actor), target: "signing-secret", detail: null };
      },
    },
    {
      action: "api_key.created",
      prepare: async () => ({
        change: () => keys.create(actor, "Billing", "test"),
        target: null,
        detail: { name: "Billing", environment: "test" },
      }),
    },
    {
      action: "api_key.revoked",
      async prepare() {
        const { id } = await keys.create(actor, "Old", "live");
        return { change: () => keys.revoke(actor, id), target: id, detail: { name: "Old" } };
      },
    },
  ];

  for (const { action, prepare } of scenes) {
    describe(action, () => {
      it("records actor, action, target, address and time", async () => {
        const { change, target, detail } = await prepare();
        const before = (await eventsOf(actor.teamId)).length;

        const changed = await change();

        const events = await eventsOf(actor.teamId);
        assert.equal(events.length, before + 1);
        assert.deepEqual(events.at(-1), { action, target: target ?? idOf(changed), detail });
        const [row] = await store.database.rows(
          `select actor_kind, actor_id, actor_name, address, request_id,
                  at between now() - interval '1 minute' and now() as recent
             from audit_events where team_id = $1 order by id desc limit 1`,
          [actor.teamId],
        );
        assert.deepEqual(row, {
          actor_kind: "api_key",
          actor_id: actor.id,
          actor_name: actor.name,
          address: "192.0.2.7",
          request_id: "r-1",
          recent: true,
        });
      });

      it("undoes the change when it cannot be written", async () => {
        const { change } = await prepare();
        const before = await everything(store.database);
        database.before = (statement) => {
          if (statement === "insert_audit_event") throw new TypeError("planted");
        };

        await assert.rejects(change(), /planted/);

        assert.deepEqual(await everything(store.database), before);
      });

      it("is rolled back with the change", async () => {
        const { change } = await prepare();
        const before = await everything(store.database);
        database.after = (statement) => {
          if (statement === "insert_audit_event") throw new TypeError("planted");
        };

        await assert.rejects(change(), /planted/);

        assert.deepEqual(await everything(store.database), before);
      });
    });
  }

  it("is not written for a refused request or one that changes nothing", async () => {
    const [id = ""] = await store.insert(queue, {});
    assert.equal((await store.claim(queue, { workerId })).length, 1);
    const refused: (() => Promise<unknown>)[] = [
      () => queues.create(actor, queue.name, {}),
      () => queues.update(actor, "nowhere", { concurrency: 1 }),
      () => queues.setPaused(actor, "nowhere", true),
      () => queues.remove(actor, "nowhere"),
      () => queues.remove(actor, "default"),
      () => tasks.remove(actor, id),
      () => tasks.remove(actor, "00000000-0000-7000-8000-000000000000"),
      () => tokens.revoke(actor, "tok_x"),
      () => keys.revoke(actor, "key_x"),
    ];
    for (const change of refused) await assert.rejects(change(), Problem);
    assert.equal((await queues.setPaused(actor, queue.name, false)).paused, false);

    assert.deepEqual(await eventsOf(actor.teamId), []);
  });

  it("is written once for a repeated pause, which still returns the queue", async () => {
    const first = await queues.setPaused(actor, queue.name, true);
    const again = await queues.setPaused(actor, queue.name, true);

    assert.equal(again.paused, true);
    assert.deepEqual(again.updatedAt, first.updatedAt);
    assert.deepEqual(
      (await eventsOf(actor.teamId)).map(({ action }) => action),
      ["queue.paused"],
    );
  });

  it("names a person or an application as its actor", async () => {
    const person = { kind: "session", id: "user_1", name: "ada@example.com" } as const;
    const application = { kind: "application", id: "app_1", name: "Dashboard" } as const;
    for (const who of [person, application]) {
      await queues.create({ ...actor, ...who }, who.kind, {});
      const [row] = await store.database.rows(
        "select actor_kind as kind, actor_id as id, actor_name as name from audit_events where team_id = $1 and target = $2",
        [actor.teamId, who.kind],
      );
      assert.deepEqual(row, who);
    }
  });

  it("contains no secret (promise G)", async () => {
    const { id, key } = await keys.create(actor, "key", "live");
    await keys.revoke(actor, id);
    const old = await secrets.get(actor);
    const rotated = await secrets.rotate(actor);
    const token = await tokens.create(actor, {
      name: "a",
      value: new Secret(VALUE),
      allowedHosts: null,
    });
    await tokens.revoke(actor, token.id);

    const rows = await store.database.rows<{ text: string }>(
      "select e::text as text from audit_events e where team_id = $1",
      [actor.teamId],
    );

    assert.equal(rows.length, 5);
    const text = JSON.stringify(rows);
    for (const secret of [key.slice("bh_live_".length), old.secret, rotated.secret, VALUE, "sk_canary"]) {
      const bare = secret.replace("whsec_", "");
      assert.ok(!text.includes(bare), bare);
    }
  });

  it("is written for deleted tasks only when deletes race with claims (promise F)", async () => {
    const ids = await store.insert(queue, ...Array.from({ length: 40 }, () => ({})));

    const [claimed, answers] = await Promise.all([
      store.claim(queue, { workerId, limit: 20 }),
      Promise.allSettled(ids.map((id) => tasks.remove(actor, id))),
    ]);

    const removed = ids.filter((_, index) => answers[index]?.status === "fulfilled");
    const events = await eventsOf(actor.teamId);
    assert.deepEqual(events.map(({ target }) => target).sort(), removed.map(formatTaskId).sort());
    assert.deepEqual(
      claimed.map(({ id }) => id).filter((id) => removed.includes(id)),
      [],
    );
    assert.equal(claimed.length + removed.length, ids.length);
  });
});

function idOf(changed: unknown): string {
  assert.ok(typeof changed === "object" && changed !== null && "id" in changed);
  return String(changed.id);
}

/** Every row of every table that these changes touch, as text. */
async function everything(sql: TextDatabase): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const tables = [
    "queues",
    "tasks",
    "queue_tallies",
    "vault_tokens",
    "signing_secrets",
    "api_keys",
    "audit_events",
  ];
  for (const table of tables) {
    const rows = await sql.rows<{ text: string }>(`select r::text as text from ${table} r order by 1`);
    found[table] = rows.map(({ text }) => text);
  }
  return found;
}
