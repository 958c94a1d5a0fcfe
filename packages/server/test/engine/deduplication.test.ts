import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Dedupe } from "../../src/domain/dedupe.ts";
import { Problem } from "../../src/domain/problem.ts";
import type { CreatedTask } from "../../src/domain/task.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { removeOldDedupeKeys } from "../../src/store/tasks/dedupe-keys.ts";
import { openTestServer, plainRequest, QUEUE, type TestNode, type TestServer } from "../test-server.ts";

describe("deduplication keys", () => {
  let server: TestServer;
  let other: TestNode;
  let key = "";
  let keys = 0;
  before(async () => {
    server = await openTestServer({ concurrency: 10 });
    other = await server.openNode();
    await server.queues.setPaused(server.principal, QUEUE, true);
  });
  after(() => server.close());
  beforeEach(() => {
    keys += 1;
    key = `key-${keys}`;
  });

  const request = (mode: Dedupe["mode"], changes: Partial<TaskRequest> = {}): TaskRequest => ({
    ...plainRequest(server.target.url),
    ...changes,
    dedupe: { key, mode, windowSeconds: 60, maxWaitSeconds: null, ...changes.dedupe },
  });
  const create = (mode: Dedupe["mode"], changes: Partial<TaskRequest> = {}, node: TestNode = server) =>
    node.tasks.create(server.principal, request(mode, changes));
  const body = (text: string) => ({
    call: { method: "POST" as const, url: server.target.url, headers: {}, body: text },
  });
  const age = (task: CreatedTask, seconds: number) =>
    server.database.rows(
      `update tasks set created_at = created_at - make_interval(secs => $2), run_at = run_at - make_interval(secs => $2),
                        due_at = due_at - make_interval(secs => $2) where id = $1`,
      [task.id, seconds],
    );
  const tasksOfKey = async () =>
    (await server.database.rows("select id from tasks where dedupe ->> 'key' = $1", [key])).length;
  const run = async (id: string) => {
    await server.queues.setPaused(server.principal, QUEUE, false);
    await server.dispatchEverywhere();
    await server.queues.setPaused(server.principal, QUEUE, true);
    assert.equal((await server.task(id)).status, "completed");
  };

  it("of one team do not make the requests of another wait behind all of them", async () => {
    const guest = await server.openTeam();
    const ended: string[] = [];
    const many = Array.from({ length: 600 }, async (_, index) => {
      await create("first", { delaySeconds: 60, dedupe: { ...key60(), key: `${key}-${index}` } });
      ended.push("many");
    });
    const one = server.tasks
      .create(guest, request("first", { delaySeconds: 60 }))
      .then(() => ended.push("one"));
    await Promise.all([...many, one]);
    assert.ok(ended.indexOf("one") < 400, String(ended.indexOf("one")));
  });

  it("of a batch: an item that is refused before it is stored is refused alone", async () => {
    const refused = request("first", { provider: "nobody" });
    const results = await server.tasks.createMany(server.principal, [refused, request("first")], false);
    assert.deepEqual(
      results.map((result) => (result instanceof Problem ? result.code : result.joined)),
      ["provider_unknown", null],
    );
    // The runner fails on a rejection that nobody handles, which it reports in a later turn.
    await new Promise(setImmediate);
  });

  it("first: later requests get the first task within its window, whatever became of it", async () => {
    const first = await create("first", body("1"));
    assert.equal(first.joined, null);
    const second = await create("first", { ...body("2"), dedupe: { ...key60(), windowSeconds: 1 } }, other);
    assert.deepEqual([second.id, second.joined, second.call.body], [first.id, "deduplicated", "1"]);
    await run(first.id);
    assert.deepEqual(await create("first").then(({ id, status, joined }) => [id, status, joined]), [
      first.id,
      "completed",
      "deduplicated",
    ]);
    await age(first, 61);
    assert.equal((await create("first")).joined, null);
    assert.equal(await tasksOfKey(), 2);
  });
  const key60 = (): Dedupe => ({ key, mode: "first", windowSeconds: 60, maxWaitSeconds: null });

  it("first: a deleted task frees its key, and the idempotency keys of the requests that it answered", async () => {
    const keyed = (n: number) => ({ idempotencyKey: `${key}-${n}`, requestText: "same" });
    const first = await create("first", keyed(1));
    const second = await create("first", keyed(2));
    assert.deepEqual([second.id, second.joined], [first.id, "deduplicated"]);
    const replayed = await create("first", keyed(2), other);
    assert.deepEqual([replayed.id, replayed.replayed, replayed.joined], [first.id, true, null]);
    await assert.rejects(
      create("first", { ...keyed(2), requestText: "another" }),
      /was used with another request/,
    );

    await server.tasks.remove(server.principal, first.id);

    const third = await create("first", { ...keyed(2), requestText: "another" });
    assert.notEqual(third.id, first.id);
    assert.deepEqual([third.joined, third.replayed], [null, false]);
    assert.deepEqual(
      await server.database.rows("select 1 from bound_keys where task_id = $1", [first.id]),
      [],
    );
  });

  it("replace: takes the place of a task that was not called yet, which keeps its id and time", async () => {
    const first = await create("replace", {
      ...body("1"),
      priority: 1,
      tags: ["old", "both"],
      delaySeconds: 3600,
    });
    const changes = { ...body("2"), priority: 9, tags: ["both", "new"], maxRetries: 7, metadata: { a: "b" } };
    const second = await create("replace", changes, other);
    assert.deepEqual([second.id, second.joined], [first.id, "replaced"]);
    const task = await server.task(first.id);
    assert.deepEqual(task.createdAt, first.createdAt);
    assert.deepEqual(
      [task.call.body, task.priority, task.tags, task.maxRetries, task.metadata, task.status],
      ["2", 9, ["both", "new"], 7, { a: "b" }, "pending"],
    );
    // Without a delay it is due now, and so it stays when it is replaced once more.
    assert.ok(task.runAt.getTime() - first.createdAt.getTime() < 60_000);
    await create("replace");
    assert.deepEqual((await server.task(first.id)).runAt, task.runAt);
    assert.deepEqual(
      (
        await server.database.rows<{ tag: string }>("select tag from task_tags where task_id = $1", [
          first.id,
        ])
      ).length,
      0,
    );

    await run(first.id);
    const next = await create("replace");
    assert.notEqual(next.id, first.id);
    await age(next, 61);
    assert.notEqual((await create("replace")).id, next.id);
  });

  it("replace: the id of the callback stays, and expires_in restarts", async () => {
    const waits = { shape: "direct", waitForCallback: true, expiresInSeconds: 600 } as const;
    const first = await create("replace", waits);
    await age(first, 30);
    const [deadline] = await deadlines(first);
    const second = await create("replace", { ...waits, dedupe: { ...key60(), mode: "replace" } });
    assert.equal(second.id, first.id);
    const [later] = await deadlines(first);
    assert.ok(Number(later?.at) >= Number(deadline?.at));
    assert.equal(deadline?.hash, later?.hash);
  });
  const deadlines = ({ id }: CreatedTask) =>
    server.database.rows<{ at: Date; hash: string }>(
      "select deadline_at as at, encode(callback_hash, 'hex') as hash from tasks where id = $1",
      [id],
    );

  it("debounce: is due a window after the newest request, at most max_wait after the first", async () => {
    const limits = { dedupe: { ...key60(), mode: "debounce" as const, maxWaitSeconds: 100 } };
    const first = await create("debounce", limits);
    const dueAfter = async () => (await server.task(first.id)).runAt.getTime() - first.createdAt.getTime();
    assert.equal(await dueAfter(), 60_000);
    await age(first, 30);
    const second = await create("debounce", limits);
    assert.deepEqual([second.id, second.joined], [first.id, "replaced"]);
    const shifted = await dueAfter();
    assert.ok(shifted >= 60_000 && shifted < 69_000, String(shifted));
    await age(first, 70);
    await create("debounce", limits, other);
    const { createdAt, runAt } = await server.task(first.id);
    assert.equal(runAt.getTime() - createdAt.getTime(), 100_000);
  });

  it("refuse another mode, queue or kind while they are taken, and say which", async () => {
    await create("replace");
    await server.queues.create(server.principal, `other-${keys}`, {});
    for (const [mode, changes, text] of [
      ["first", {}, "mode: replace"],
      ["debounce", {}, "mode: replace"],
      ["replace", { queue: `other-${keys}` }, `queue: ${QUEUE}`],
      ["replace", { shape: "direct" }, "dialect: queue tasks (webhook_url)"],
    ] as const)
      await assert.rejects(create(mode, changes), {
        code: "dedupe_conflict",
        status: 409,
        message: `Dedupe key "${key}" is taken by a task with another ${text}`,
      });
    const guest = await server.openTeam();
    assert.equal((await server.tasks.create(guest, request("first"))).joined, null);
    const sandbox = { ...server.principal, environment: "test" as const };
    assert.equal((await server.tasks.create(sandbox, request("first"))).joined, null);
  });

  it("make one task of 50 requests at once on two nodes, in each mode", async () => {
    for (const mode of ["first", "replace", "debounce"] as const) {
      key = `${key}-${mode}`;
      const made = await Promise.all(
        Array.from({ length: 50 }, (_, n) => create(mode, body(String(n)), n % 2 === 0 ? server : other)),
      );
      assert.equal(new Set(made.map(({ id }) => id)).size, 1, mode);
      assert.equal(made.filter(({ joined }) => joined === null).length, 1, mode);
      assert.equal(await tasksOfKey(), 1, mode);
    }
  });

  it("do not deadlock in batches with the same keys in another order, atomic or not", async () => {
    const named = (name: string) =>
      request("replace", { dedupe: { ...key60(), mode: "replace", key: `${key}-${name}` } });
    const names = Array.from({ length: 20 }, (_, n) => String(n));
    const batches = Array.from({ length: 8 }, async (_, n) => {
      const order = n % 2 === 0 ? names : [...names].reverse();
      const node = n % 4 < 2 ? server : other;
      return node.tasks.createMany(server.principal, order.map(named), n % 3 === 0);
    });
    const results = (await Promise.all(batches)).flat();
    assert.equal(results.length, 160);
    const ids = results.map((result) => ("id" in result ? result.id : assert.fail(String(result))));
    assert.equal(new Set(ids).size, 20);
  });

  it("join the items of a batch in their order, also among themselves", async () => {
    const items = ["1", "2", "3"].map((text) => request("replace", body(text)));
    const [first, second, third] = await server.tasks.createMany(server.principal, items, false);
    const kinds = [first, second, third].map((each) => (each && "joined" in each ? each.joined : each));
    assert.deepEqual(kinds, [null, "replaced", "replaced"]);
    const id = first && "id" in first ? first.id : "";
    assert.equal((await server.task(id)).call.body, "3");
    const together = await server.tasks.createMany(server.principal, [request("replace", body("4"))], true);
    assert.deepEqual(
      together.map((each) => ("joined" in each ? [each.id, each.joined] : each)),
      [[id, "replaced"]],
    );
    await assert.rejects(
      server.tasks.createMany(server.principal, [request("first")], true),
      /^Problem: tasks\[0\]: Dedupe key/,
    );
  });

  it("replace no task that a worker has claimed meanwhile, and a worker claims none that is being replaced", async () => {
    const first = await create("replace", body("1"));
    let replacing: Promise<CreatedTask> | undefined;
    // What a claim does to the row, held open until the replacement waits for it.
    await server.database.transaction(async (sql) => {
      await sql.rows("update tasks set attempt_count = attempt_count + 1 where id = $1", [first.id]);
      replacing = create("replace", body("2"), other);
      for (let waiting = 0; waiting === 0; ) {
        const [row] = await server.database.rows<{ n: number }>(
          "select count(*)::integer as n from pg_locks where not granted",
        );
        waiting = row?.n ?? 0;
      }
    });
    const second = await replacing;
    assert.notEqual(second?.id, first.id);
    assert.equal((await server.task(first.id)).call.body, "1");
  });

  it("tell subscribers of a replacement, and keep flows and simulations of the newest request", async () => {
    const { database, principal } = server;
    await database.rows("insert into listeners (team_id, until) values ($1, now() + interval '1 hour')", [
      principal.teamId,
    ]);
    const flow = (name: string) => ({ key: name, concurrency: 1, rate: null, period: null, ordered: null });
    const first = await create("replace", { flow: flow(`${key}-a`) });
    await create("replace", { flow: flow(`${key}-b`) }, other);
    const [row] = await database.rows<{ flow: string; due: Date | null; known: boolean }>(
      `select t.flow, t.flow_due_at as due, exists (select 1 from flows f where f.key = t.flow) as known
         from tasks t where t.id = $1`,
      [first.id],
    );
    assert.deepEqual([row?.flow, row?.due === null, row?.known], [`${key}-b`, false, true]);
    const told = await database.rows<{ entries: unknown }>("select entries from events where team_id = $1", [
      principal.teamId,
    ]);
    assert.equal(JSON.stringify(told).split('"task.replaced"').length, 2);
    await database.rows("delete from listeners");

    const test = { ...principal, environment: "test" as const };
    const simulate = {
      outcome: "complete",
      afterSeconds: 0,
      responseCode: null,
      body: "",
      attempts: 1,
    } as const;
    const said = { ...request("replace"), dedupe: { ...key60(), mode: "replace" as const } };
    const sandboxed = await server.tasks.create(test, said);
    const again = await server.tasks.create(test, { ...said, simulate });
    assert.deepEqual([again.id, again.joined], [sandboxed.id, "replaced"]);
    const steps = await database.rows("select 1 from simulations where task_id = $1 and said is not null", [
      again.id,
    ]);
    assert.equal(steps.length, 1);
  });

  it("are removed once no task holds them", async () => {
    const held = await create("replace");
    const heldKey = key;
    key = `${key}-free`;
    await create("first");
    await server.database.rows("update dedupe_keys set free_at = now() - interval '1 second'");
    await server.database.rows(
      "update tasks set created_at = created_at - interval '1 hour' where dedupe ->> 'key' = $1",
      [key],
    );
    await removeOldDedupeKeys(server.databases.chores, 1000);
    const left = await server.database.rows<{ key: string }>(
      "select key from dedupe_keys where key = any($1)",
      [[key, heldKey]],
    );
    assert.deepEqual(left, [{ key: heldKey }]);
    key = heldKey;
    assert.equal((await create("replace")).id, held.id);
  });
});
