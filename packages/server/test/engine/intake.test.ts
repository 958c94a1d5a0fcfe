import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import { openTestServer, plainRequest, QUEUE, type TestServer } from "../test-server.ts";
import { createGate, databaseAway } from "../test-sql.ts";

describe("intake", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ concurrency: 1 });
  });
  after(() => server.close());
  afterEach(async () => {
    server.databases.intake.before = () => {};
    server.databases.intake.after = () => {};
    await server.dispatchOnce();
  });

  const path = (name: string) => ({
    call: { method: "POST" as const, url: `${server.target.url}/${name}`, headers: {}, body: "{}" },
  });

  /** The node knows the queue, holds its slots and knows that nothing waits: the next task is handed off. */
  async function warmUp(): Promise<void> {
    await server.submit();
    await server.dispatchOnce();
  }

  it("hands a task off without a claim when a slot is free and nothing waits", async () => {
    await warmUp();
    const claims = server.databases.claim.sent.length;

    const id = await server.submit();
    await server.engine.attempts.finished();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.attempts.length, 1);
    assert.equal(server.databases.claim.sent.length, claims);
  });

  it("stores a hundred concurrent tasks in at most two statements", async () => {
    await warmUp();
    const flushes = server.databases.intake.sent.length;

    const ids = await Promise.all(Array.from({ length: 100 }, () => server.submit()));

    assert.equal(new Set(ids).size, 100);
    assert.ok(server.databases.intake.sent.length - flushes <= 2);
  });

  it("collects tasks that arrive during a flush into the next one", async () => {
    await warmUp();
    const gate = createGate();
    server.databases.intake.before = gate.wait;
    const flushes = server.databases.intake.sent.length;

    const first = server.submit();
    await gate.reached;
    const others = Array.from({ length: 50 }, () => server.submit());
    gate.open();
    await Promise.all([first, ...others]);

    assert.equal(server.databases.intake.sent.length - flushes, 2);
  });

  it("stores another team's task in the insert after the current one, each with at most 256 KiB of a team's batch", async () => {
    const guest = await server.openTeam();
    const stored = async ({ teamId }: Requester) => {
      const [row] = await server.database.rows<{ tasks: number; bytes: number }>(
        `select count(*)::integer as tasks, coalesce(sum(octet_length(headers::text) + octet_length(body)), 0)::integer as bytes
           from tasks where team_id = $1`,
        [teamId],
      );
      return row ?? { tasks: 0, bytes: 0 };
    };
    const plain = plainRequest(server.target.url);
    const request = { ...plain, delaySeconds: 60 };
    const headers = { "X-Long": "x".repeat(1_000) };
    const large = { ...request, call: { ...plain.call, headers, body: "x".repeat(1_000) } };
    const gate = createGate();
    server.databases.intake.before = gate.wait;
    const inserts: { readonly bytes: number; readonly guests: number }[] = [];
    let last = await stored(server.principal);
    server.databases.intake.after = async () => {
      const now = await stored(server.principal);
      inserts.push({ bytes: now.bytes - last.bytes, guests: (await stored(guest)).tasks });
      last = now;
    };

    const many = Array.from({ length: 400 }, () => server.tasks.create(server.principal, large));
    await gate.reached;
    const one = server.tasks.create(guest, request);
    gate.open();
    // On a busy machine some are refused because they waited for too long.
    await Promise.allSettled([...many, one]);
    await server.databases.intake.idle();

    assert.deepEqual(
      inserts.slice(0, 2).map(({ guests }) => guests),
      [0, 1],
    );
    for (const { bytes } of inserts) assert.ok(bytes <= 256 * 1024, `${bytes} bytes in one insert`);
  });

  it("refuses only the task with an unknown queue, and stores the others of its flush", async () => {
    const answers = await Promise.allSettled([
      server.submit(),
      server.submit({ queue: "nowhere" }),
      server.submit(),
    ]);

    assert.deepEqual(
      answers.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const refused = answers[1];
    assert.ok(refused?.status === "rejected" && refused.reason instanceof Problem);
    assert.equal(refused.reason.message, 'Queue "nowhere" not found');
  });

  it("keeps storing tasks after a flush that the database refused", async () => {
    await assert.rejects(server.submit({ priority: 11 }));

    const id = await server.submit();
    await server.dispatchOnce();

    assert.equal((await server.task(id)).status, "completed");
  });

  it("stores the other tasks of a flush when some cannot be stored", async () => {
    const withBody = (body: string) => ({ call: { ...path("odd").call, body } });
    const answers = await Promise.allSettled([
      server.submit(),
      server.submit(withBody("a lone surrogate \ud800")),
      server.submit(withBody("a NUL \0")),
      server.submit(),
    ]);

    assert.equal(answers[0]?.status, "fulfilled");
    assert.equal(answers[3]?.status, "fulfilled");
  });

  it("gives the free slot to the highest priority among tasks that arrive together", async () => {
    await warmUp();
    server.target.calls.length = 0;

    await Promise.all([
      server.submit({ priority: 1, ...path("low") }),
      server.submit({ priority: 10, ...path("high") }),
      server.submit({ priority: 5, ...path("middle") }),
    ]);
    await server.dispatchOnce();
    await server.dispatchOnce();

    assert.deepEqual(
      server.target.calls.map((call) => call.path),
      ["/high", "/middle", "/low"],
    );
  });

  it("looks the task up when the connection is lost during the commit, and answers that it is stored", async () => {
    await warmUp();
    server.databases.intake.after = (statement) => {
      if (statement === "insert_tasks_plain_alike") throw databaseAway();
    };

    const id = await server.submit();
    await server.engine.attempts.finished();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.attempts.length, 1);
  });

  it("answers 503 when the connection is lost before the task was stored, and stores nothing", async () => {
    const [before] = await server.database.rows<{ count: string }>("select count(*) from tasks");
    server.databases.intake.before = (statement) => {
      if (statement === "insert_tasks_plain_alike") throw databaseAway();
    };

    await assert.rejects(server.submit(), (error: Problem) => error.status === 503);

    const [after] = await server.database.rows<{ count: string }>("select count(*) from tasks");
    assert.deepEqual(after, before);
  });

  it("executes a stored task that it answered with 503 because the lookup failed too", async () => {
    await warmUp();
    server.target.calls.length = 0;
    server.databases.intake.after = () => {
      throw databaseAway();
    };
    await assert.rejects(server.submit(path("unsure")), (error: Problem) => error.status === 503);

    await server.engine.attempts.reconcileOnce();
    await server.engine.attempts.reconcileOnce();
    await server.dispatchOnce();

    assert.deepEqual(
      server.target.calls.map((call) => call.path),
      ["/unsure"],
    );
  });

  it("inserts a task as pending when its queue was paused after the slot was reserved", async () => {
    await warmUp();
    const gate = createGate();
    server.databases.intake.before = gate.wait;
    const submitted = server.submit();
    await gate.reached;
    await server.queues.setPaused(server.principal, QUEUE, true);
    gate.open();
    const id = await submitted;
    await server.rest();

    assert.equal((await server.task(id)).status, "pending");
    await server.queues.setPaused(server.principal, QUEUE, false);
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("inserts a task as pending when its worker was removed, and executes it later", async () => {
    await warmUp();
    await server.database.rows("delete from workers");

    const id = await server.submit();
    assert.equal((await server.task(id)).status, "pending");

    await server.engine.lease.renewOnce();
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });
});
