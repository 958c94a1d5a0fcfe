import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Requester } from "../../../src/domain/identity/principal.ts";
import { parseId } from "../../../src/domain/public-id.ts";
import { recordChange } from "../../../src/service/audit/audit.ts";
import {
  type AuditQuery,
  type AuditService,
  createAuditService,
} from "../../../src/service/audit/audit-service.ts";
import { removeOldRecords } from "../../../src/service/retention.ts";
import { listAuditEvents, removeOldAuditEvents } from "../../../src/store/identity/audit-events.ts";
import { principalOf } from "../../test-principal.ts";
import { explain, openTestStore, type TestStore } from "../../test-store.ts";

const FIRST: AuditQuery = { action: null, limit: 20, cursor: null };

describe("the audit log", () => {
  let store: TestStore;
  let audit: AuditService;
  let ours: Requester;
  let theirs: Requester;
  before(async () => {
    store = await openTestStore();
    audit = createAuditService({ sql: store.database });
  });
  after(() => store.close());
  beforeEach(async () => {
    ours = principalOf(await store.openTeam());
    theirs = principalOf(await store.openTeam());
  });

  async function record(actor: Requester, ...targets: string[]): Promise<void> {
    for (const target of targets) await recordChange(store.database, actor, { action: "a.done", target });
  }
  const targetsOf = async (query: Partial<AuditQuery> = {}, actor = ours) =>
    (await audit.list(actor, { ...FIRST, ...query })).items.map(({ target }) => target);
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

  /** Follows the cursors to the end. */
  async function pagesOf(limit: number, action: string | null = null): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const page = await audit.list(ours, { action, limit, cursor });
      pages.push(page.items.map(({ target }) => target));
      assert.equal(page.hasMore, page.nextCursor !== null);
      cursor = page.nextCursor === null ? null : parseId("evt", page.nextCursor);
      assert.ok(pages.length < 20, "there is no end");
    } while (cursor !== null);
    return pages;
  }

  /** So many days later. */
  const age = (actor: Requester, days: number) =>
    store.database.rows("update audit_events set at = at - make_interval(days => $2) where team_id = $1", [
      actor.teamId,
      days,
    ]);

  it("returns each event as it was recorded", async () => {
    const detail = { name: "x", hosts: ["a"], deep: { n: 1 } };
    await recordChange(store.database, ours, { action: "a.done", target: "t", detail });

    const [event] = (await audit.list(ours, FIRST)).items;

    assert.ok(event);
    const { id, at, ...rest } = event;
    assert.match(id, /^evt_[0-9a-z]{26}$/);
    assert.ok(Math.abs(Date.now() - at.getTime()) < 60_000);
    assert.deepEqual(rest, {
      actor: { kind: "api_key", id: ours.id, name: ours.name },
      action: "a.done",
      target: "t",
      detail,
      address: "127.0.0.1",
      requestId: "test",
    });
  });

  it("lists the newest first, page by page, each event once", async () => {
    await record(ours, ...numbers(7));

    assert.deepEqual(await pagesOf(3), [["7", "6", "5"], ["4", "3", "2"], ["1"]]);
  });

  it("reports no further page after a last page that is full", async () => {
    await record(ours, ...numbers(6));

    assert.deepEqual(await pagesOf(3), [
      ["6", "5", "4"],
      ["3", "2", "1"],
    ]);
    assert.deepEqual(await pagesOf(6), [["6", "5", "4", "3", "2", "1"]]);
  });

  it("returns the same next page when events are added between pages", async () => {
    await record(ours, ...numbers(4));
    const { nextCursor } = await audit.list(ours, { ...FIRST, limit: 2 });
    await record(ours, "new");

    assert.deepEqual(await targetsOf({ cursor: parseId("evt", nextCursor ?? "") }), ["2", "1"]);
  });

  it("filters by the exact action, page by page", async () => {
    for (const target of numbers(5)) {
      for (const action of ["queue.created", "queue.create", "queue.paused"]) {
        await recordChange(store.database, ours, { action, target: `${action} ${target}` });
      }
    }

    assert.deepEqual(await pagesOf(2, "queue.created"), [
      ["queue.created 5", "queue.created 4"],
      ["queue.created 3", "queue.created 2"],
      ["queue.created 1"],
    ]);
    assert.deepEqual(await targetsOf({ action: "queue.%" }), []);
  });

  it("returns no event of another team, with any cursor and filter", async () => {
    await record(theirs, "old secret");
    await record(ours, "mine");
    await record(theirs, "new secret");
    const [newest, oldest] = (await audit.list(theirs, FIRST)).items.map(({ id }) => parseId("evt", id));

    assert.deepEqual(await targetsOf(), ["mine"]);
    assert.deepEqual(await targetsOf({ action: "a.done" }), ["mine"]);
    assert.deepEqual(await targetsOf({ cursor: newest ?? null }), ["mine"]);
    assert.deepEqual(await targetsOf({ cursor: oldest ?? null }), []);
    assert.deepEqual(await targetsOf({}, theirs), ["new secret", "old secret"]);
    const { items, hasMore, nextCursor } = await audit.list(principalOf(await store.openTeam()), FIRST);
    assert.deepEqual({ items, hasMore, nextCursor }, { items: [], hasMore: false, nextCursor: null });
  });

  it("finds a rare action without scanning frequent ones", async () => {
    await store.database.rows(
      `insert into audit_events (team_id, id, actor_kind, actor_id, actor_name, action, target)
       select $1, (lpad(to_hex(n), 12, '0') || '70008000000000000000')::uuid, 'api_key', 'key_1', 'k',
              case when n = 1 then 'api_key.created' else 'task.deleted' end, 't' from generate_series(1, 20000) n`,
      [ours.teamId],
    );
    const page = { before: null, limit: 21 };
    for (const action of ["api_key.created", null]) {
      const plan = await explain(store.database, "custom", (sql) =>
        listAuditEvents(sql, ours.teamId, { ...page, action }),
      );
      assert.ok(plan.blocks < 50, `${action}: ${plan.blocks} blocks by ${plan.indexes.join()}`);
    }
    assert.deepEqual(await targetsOf({ action: "api_key.created" }), ["t"]);
  });

  it("removes old events of every team in batches, oldest first", async () => {
    await record(ours, "ancient", "ancient too");
    await age(ours, 10);
    await record(theirs, "old");
    await record(ours, "young");
    await age(ours, 395);
    await age(theirs, 401);

    assert.equal(await removeOldAuditEvents(store.database, 400, 2), 2);
    assert.deepEqual(await targetsOf(), ["young"]);
    assert.equal(await removeOldAuditEvents(store.database, 400, 2), 1);
    assert.equal(await removeOldAuditEvents(store.database, 400, 2), 0);
    assert.deepEqual([await targetsOf(), await targetsOf({}, theirs)], [["young"], []]);
  });

  it("removes events after 400 days, without a nap while there are more", async () => {
    await record(ours, "young");
    await age(ours, 399);
    await store.database.rows(
      `insert into audit_events (team_id, id, at, actor_kind, actor_id, actor_name, action, target)
       select $1, gen_random_uuid(), now() - interval '401 days', 'api_key', 'key_1', 'k', 'a.done', 't'
         from generate_series(1, 1500)`,
      [theirs.teamId],
    );

    assert.equal(await removeOldRecords(store.database, []), 0);
    assert.equal((await audit.list(theirs, { ...FIRST, limit: 1000 })).items.length, 500);
    assert.ok((await removeOldRecords(store.database, [])) > 0);
    assert.deepEqual([await targetsOf(), await targetsOf({}, theirs)], [["young"], []]);
  });
});
