import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { Problem } from "../../src/domain/problem.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { until } from "../patience.ts";
import { openTestServer, type TestServer } from "../test-server.ts";
import { databaseAway } from "../test-sql.ts";

describe("a node whose database connections break", () => {
  let server: TestServer;
  /** A connection of the test's own, which locks things and ends other connections. */
  let hand: pg.Client;
  beforeEach(async () => {
    server = await openTestServer({ concurrency: 3, maxRetries: 0 });
    hand = new pg.Client(server.connection);
    await hand.connect();
    await server.submit();
    await server.dispatchOnce();
  });
  afterEach(async () => {
    await hand.end();
    await server.close();
  });

  /** Waits until a statement waits for the hand's lock, then ends its connection. */
  async function breakWaiting(): Promise<void> {
    for (let ended = 0; ended === 0; ) {
      const { rowCount } = await hand.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and wait_event_type = 'Lock'`,
      );
      ended = rowCount ?? 0;
    }
  }

  async function breakAll(): Promise<void> {
    await hand.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
  }

  /** Takes a step once more for each broken connection that it meets: a client learns of the end only by and by. */
  async function again<T>(step: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof Problem && error.code === "database_away")) throw error;
      }
    }
  }

  it("answers 503 for a task that was not stored, and stores it when it is sent again", async () => {
    await hand.query("begin");
    await hand.query("lock table tasks in share row exclusive mode");
    const refused = server.submit();
    const checked = assert.rejects(refused, (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.status, 503);
      assert.equal(error.retryAfterSeconds, 1);
      return true;
    });
    await breakWaiting();
    await checked;
    await hand.query("rollback");

    const id = await server.submit();
    await server.dispatchOnce();
    assert.equal((await server.task(id)).status, "completed");
  });

  it("never answers 201 for a task that is not stored: accepted tasks are executed (promise A)", async () => {
    const before = server.target.calls.length;
    const answers: PromiseSettledResult<string>[] = [];
    for (let wave = 0; wave < 4; wave += 1) {
      const submitted = Promise.allSettled(Array.from({ length: 20 }, () => server.submit()));
      await new Promise(setImmediate);
      await breakAll();
      answers.push(...(await submitted));
    }

    const accepted = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    for (const answer of answers) {
      if (answer.status === "rejected") assert.equal((answer.reason as Problem).status, 503);
    }
    // A task that a lost answer left active without an attempt is released at the second check; a check may meet a broken connection.
    const open = "select 1 from tasks where status <> 'completed'";
    await until(async () => {
      await again(() => server.dispatchOnce());
      await again(() => server.engine.attempts.reconcileOnce());
      return (await hand.query(open)).rowCount === 0;
    });
    const stored = await hand.query<{ id: string }>("select id from tasks");
    const completed = new Set(stored.rows.map(({ id }) => id));
    assert.deepEqual(
      accepted.filter((id) => !completed.has(id)),
      [],
    );
    assert.ok(server.target.calls.length - before >= accepted.length);
  });

  it("settles a target's answer when the database is back, without a second call", async () => {
    server.target.hold();
    const id = await server.submit();
    await server.look();
    await server.target.received(2);
    await hand.query("begin");
    await hand.query("select 1 from tasks where id = $1 for update", [id]);

    server.target.release();
    await breakWaiting();
    await until(() => server.log.some(({ message }) => message.startsWith("settle.waits")));
    assert.equal(server.engine.attempts.count, 1, "the answer waits, with its slot");
    await hand.query("rollback");
    await server.engine.attempts.finished();

    const task = await server.task(id);
    assert.equal(task.status, "completed");
    assert.equal(task.attempts.length, 1);
    assert.equal(server.target.calls.length, 2);
  });

  it("recognizes its own settlement when only the database's reply was lost", async () => {
    server.target.answer = (_call, response) => response.writeHead(500).end();
    server.databases.settle.after = (statement) => {
      if (statement !== "settle_attempts") return;
      server.databases.settle.after = () => {};
      throw databaseAway();
    };
    const id = await server.submit({ maxRetries: 1 });
    await server.look();
    await server.engine.attempts.finished();

    const verdicts = server.log.flatMap(({ message, fields }) =>
      message === "attempt.settled" && fields.task === formatTaskId(id)
        ? [[fields.verdict, fields.nextRunAt]]
        : [],
    );
    const task = await server.task(id);
    assert.deepEqual(verdicts, [["retry", task.runAt]]);
    assert.deepEqual(
      task.attempts.map(({ status }) => status),
      ["failed"],
    );
  });

  it("keeps claiming tasks after its connections were cut", async () => {
    server.target.hold();
    const ids = [];
    for (let index = 0; index < 6; index += 1) ids.push(await server.submit());
    await server.quiet();
    await server.target.received(4);
    await breakAll();

    server.target.answer = (_call, response) => response.end("{}");
    server.target.release();
    await again(() => server.settled(7));

    for (const id of ids) assert.equal((await again(() => server.task(id))).status, "completed");
    assert.equal(server.target.mostAtOnce, 3);
  });

  it("keeps its lease and worker id at the next renewal", async () => {
    const { workerId } = server.engine.lease;
    await breakAll();
    await again(() => server.engine.lease.renewOnce());

    assert.equal(server.engine.lease.workerId, workerId);
    assert.equal(server.engine.lease.isHeld(), true);
  });
});
