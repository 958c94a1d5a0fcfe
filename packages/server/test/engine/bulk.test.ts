import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import type { TaskFilter } from "../../src/domain/task-filter.ts";
import { parseTaskId } from "../../src/domain/task-id.ts";
import type { BulkAction } from "../../src/features/bulk-actions/domain.ts";
import { createBulkService } from "../../src/features/bulk-actions/service.ts";
import { NO_SCAN } from "../../src/service/scan-line.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { ALL_TASKS, countBothWays } from "../test-store.ts";

describe("a bulk action", () => {
  let server: TestServer;
  let other: TestNode;
  before(async () => {
    server = await openTestServer();
    other = await server.openNode();
    // Restarted tasks must not be called while the test checks them.
    await server.queues.setPaused(server.principal, QUEUE, true);
    await server.queues.create(server.principal, "open", {});
  });
  afterEach(async () => {
    server.databases.chores.before = () => {};
    const { tallied, counted } = await countBothWays(server.database);
    assert.deepEqual(tallied, counted);
  });
  after(() => server.close());

  const start = (action: BulkAction, filter: Partial<TaskFilter>, rate = 1000) =>
    server.services.features.bulkActions.service.start(
      server.principal,
      { action, filter: { ...ALL_TASKS, ...filter, sandbox: null }, rate, said: {} },
      NO_SCAN,
    );
  const bulkOf = (id: string) => server.services.features.bulkActions.service.get(server.principal, id);
  const workOnce = (node: TestNode) => {
    const actor = node.engine.actors.all.find(({ name }) => name === "bulks");
    assert.ok(actor);
    return actor.once();
  };
  const letTimePass = () => server.database.rows("update bulks set next_at = now() where status = 'running'");

  async function pendingTasks(count: number, tag: string): Promise<string[]> {
    const request = { delaySeconds: 3600, tags: [tag] };
    return Promise.all(Array.from({ length: count }, () => server.submit(request)));
  }

  async function cancelledTasks(count: number, tag: string): Promise<string[]> {
    const ids = await pendingTasks(count, tag);
    for (const id of ids) await server.tasks.cancel(server.principal, id);
    return ids;
  }

  const retriesOf = async (ids: readonly string[]) =>
    (
      await server.database.rows<{ retries: number }>(
        "select retries from tasks where id = any($1::uuid[])",
        [ids],
      )
    ).map(({ retries }) => retries);

  /** Every way that a node can fail is an end of its transaction before the commit. */
  async function workOff(id: string, ...nodes: readonly TestNode[]): Promise<void> {
    for (let round = 0; round < 500; round += 1) {
      await letTimePass();
      await Promise.allSettled(nodes.map(workOnce));
      if ((await bulkOf(id)).status !== "running") return;
    }
    assert.fail("it does not come to an end");
  }

  it("is applied once to each task when two nodes work on it", async () => {
    const ids = await cancelledTasks(130, "both");
    const { id, matched } = await start("retry", { tags: ["both"] });
    assert.equal(matched, 130);

    await workOff(id, server, other);

    const { status, done, skipped } = await bulkOf(id);
    assert.deepEqual([status, done, skipped], ["completed", 130, 0]);
    assert.deepEqual(new Set(await retriesOf(ids)), new Set([1]));
  });

  it("resumes where it stopped after a node fails at any statement", async () => {
    const ids = await cancelledTasks(8, "fails");
    const { id } = await start("retry", { tags: ["fails"] }, 30);
    let statements = 0;
    let failAt = 1;
    server.databases.chores.before = () => {
      statements += 1;
      if (statements !== failAt) return;
      // Later each time, so that every statement of a turn is the last one once.
      failAt += 1;
      statements = 0;
      throw new Error("the process is gone");
    };

    await workOff(id, server);

    const { status, done, skipped } = await bulkOf(id);
    assert.deepEqual([status, done, skipped], ["completed", 8, 0]);
    assert.deepEqual(await retriesOf(ids), Array(8).fill(1));
    assert.ok(failAt > 6, `only ${failAt} failures`);
  });

  it("waits while another node has it locked, and continues when that node dies", async () => {
    const ids = await cancelledTasks(3, "dies");
    const { id } = await start("retry", { tags: ["dies"] });
    const dying = new pg.Client(server.connection);
    dying.on("error", () => {});
    await dying.connect();
    const { rows } = await dying.query("select pg_backend_pid() as pid");
    await dying.query("begin");
    await dying.query("select 1 from bulks where id = $1 for update", [id]);
    await dying.query("update tasks set retries = 7 where id = $1", [ids[0]]);

    assert.ok((await workOnce(server)) > 0);
    assert.equal((await bulkOf(id)).done, 0);

    await server.database.rows(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and datname = current_database()",
      [rows[0].pid],
    );
    await workOff(id, other);
    assert.deepEqual(await retriesOf(ids), [1, 1, 1]);
  });

  it("applies to the tasks that matched when it was created, and skips those that no longer match", async () => {
    const [first = "", second = ""] = await cancelledTasks(2, "then");
    const [pending = ""] = await pendingTasks(1, "then");
    const { id, matched } = await start("retry", { tags: ["then"], statuses: ["cancelled"] });
    assert.equal(matched, 2);
    await server.tasks.retry(server.principal, first, { delaySeconds: 60, priority: null });
    await server.tasks.cancel(server.principal, pending);
    const [later = ""] = await cancelledTasks(1, "then");

    await workOff(id, server);

    const { done, skipped } = await bulkOf(id);
    assert.deepEqual([done, skipped], [1, 1]);
    const statuses = await Promise.all(
      [first, second, pending, later].map(async (task) => (await server.task(task)).status),
    );
    assert.deepEqual(statuses, ["pending", "pending", "cancelled", "cancelled"]);
  });

  it("keeps its rate limit across all nodes", async () => {
    await cancelledTasks(3, "slow");
    const { id } = await start("retry", { tags: ["slow"] }, 1);
    await workOnce(server);

    for (const node of [server, other]) {
      const napMs = await workOnce(node);
      assert.ok(napMs > 100 && napMs <= 1000, `naps ${napMs} ms`);
    }
    assert.equal((await bulkOf(id)).done, 1);
    await server.services.features.bulkActions.service.stop(server.principal, id);
  });

  async function openBulkTeam(actions: number): Promise<Requester> {
    const team = await server.openTeam();
    for (let index = 0; index < 6; index += 1) await server.submit({ delaySeconds: 3600 }, team);
    const request = { action: "retry" as const, filter: { ...ALL_TASKS, sandbox: null }, rate: 1, said: {} };
    for (let index = 0; index < actions; index += 1)
      await server.services.features.bulkActions.service.start(team, request, NO_SCAN);
    return team;
  }

  /** How many of a team's actions have had a turn, however many tasks it was for. */
  async function turnedOf({ teamId }: Requester): Promise<number> {
    const rows = await server.database.rows("select 1 from bulks where team_id = $1 and done + skipped > 0", [
      teamId,
    ]);
    return rows.length;
  }

  it("gets one turn per team and round, however many actions the team has", async () => {
    const [busy, single] = [await openBulkTeam(45), await openBulkTeam(1)];
    await letTimePass();
    await workOnce(server);
    assert.deepEqual([await turnedOf(busy), await turnedOf(single)], [1, 1]);
    await workOnce(server);
    assert.equal(await turnedOf(busy), 2);
    await server.database.rows(
      "update bulks set status = 'stopped', ended_at = now() where status = 'running'",
    );
  });

  it("gets its turn after the team's actions that have waited longer", async () => {
    const team = await openBulkTeam(3);
    await letTimePass();
    const turned: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await workOnce(server);
      turned.push(await turnedOf(team));
    }
    assert.deepEqual(turned, [1, 2, 3]);
    await server.database.rows(
      "update bulks set status = 'stopped', ended_at = now() where status = 'running'",
    );
  });

  it("counts the matching tasks in slices, on the connections for chores", async () => {
    const team = await server.openTeam();
    for (let index = 0; index < 7; index += 1) await server.submit({ delaySeconds: 3600 }, team);
    let statements = 0;
    const chores = {
      rows: <Row extends object>(...query: Parameters<typeof server.database.rows>) => {
        statements += 1;
        return server.database.rows<Row>(...query);
      },
    };
    const bulks = createBulkService({ database: server.database, chores, slice: 2 });
    assert.equal(await bulks.count(team, { ...ALL_TASKS, sandbox: null }, NO_SCAN), 7);
    // One for the newest task, and four for seven tasks in slices of two.
    assert.equal(statements, 5);
  });

  it("selects its tasks in slices with a turn for each, and forgets a selection that failed or was lost", async () => {
    const team = await server.openTeam();
    for (let index = 0; index < 7; index += 1) await server.submit({ delaySeconds: 3600 }, team);
    const { teamId } = team;
    let turns = 0;
    const scan = {
      ...NO_SCAN,
      async take() {
        turns += 1;
      },
    };
    let isFailing = false;
    const chores = {
      async rows<Row extends object>(...[statement, values]: Parameters<typeof server.database.rows>) {
        const rows = await server.database.rows<Row>(statement, values);
        if (isFailing && typeof statement !== "string" && statement.name === "insert_portion")
          throw new Problem("database_away");
        return rows;
      },
    };
    const bulks = createBulkService({ database: server.database, chores, slice: 2 });
    const request = { action: "retry", filter: { ...ALL_TASKS, sandbox: null }, rate: 1, said: {} } as const;
    const kept = () =>
      server.database.rows("select bulk_id from bulk_portions where team_id = $1 order by 1", [teamId]);
    const lost = `0190a0a0-0000-7000-8000-${String(teamId).padStart(12, "0")}`;
    await server.database.rows("insert into bulk_portions values ($1, $2, 0, '{}')", [teamId, lost]);

    const { id, matched } = await bulks.start(team, request, scan);
    assert.deepEqual([matched, turns], [7, 3]);
    assert.deepEqual(await kept(), [{ bulk_id: id }]);

    isFailing = true;
    await assert.rejects(bulks.start(team, request, scan), { code: "database_away" });
    assert.deepEqual(await kept(), [{ bulk_id: id }]);
    await bulks.stop(team, id);
  });

  it("changes no further task after it is stopped, and cannot be stopped twice", async () => {
    const ids = await pendingTasks(3, "stop");
    const { id } = await start("cancel", { tags: ["stop"] }, 1);
    await workOnce(server);
    const stopped = await server.services.features.bulkActions.service.stop(server.principal, id);
    assert.deepEqual([stopped.status, stopped.done], ["stopped", 1]);

    await letTimePass();
    await workOnce(other);

    const statuses = await Promise.all(ids.map(async (task) => (await server.task(task)).status));
    assert.deepEqual(statuses, ["cancelled", "pending", "pending"]);
    await assert.rejects(
      server.services.features.bulkActions.service.stop(server.principal, id),
      (error: unknown) =>
        error instanceof Problem && error.message === "Bulk action has already ended (current: stopped)",
    );
  });

  it("aborts the calls of the tasks that it cancels, its own node's and another's", async () => {
    server.target.hold();
    for (const [round, from] of (["own", "other"] as const).entries()) {
      const arrived = server.target.received(server.target.calls.length + 1);
      const task = await server.submit({ queue: "open", tags: [`aborts-${from}`] });
      await arrived;
      const [holder, idle] = server.engine.attempts.count === 1 ? [server, other] : [other, server];
      const broken = server.target.broken(round + 1);
      const { id } = await start("cancel", { tags: [`aborts-${from}`] });

      await workOff(id, from === "own" ? holder : idle);

      await broken;
      await holder.engine.attempts.finished();
      assert.equal((await server.task(task)).status, "cancelled");
      // A call that nobody aborts ends too, by its own timeout.
      const ends = server.log.filter(
        ({ message, fields }) =>
          /^attempt\.(aborted|settled)$/.test(message) && parseTaskId(String(fields.task)) === task,
      );
      assert.deepEqual(
        ends.map(({ message }) => message),
        ["attempt.aborted"],
      );
    }
    server.target.release();
    server.target.answer = (_call, response) => response.end("{}");
  });

  it("cancels waiting tasks, and deletes pending ones with their tags", async () => {
    const request = { queue: "open", waitForCallback: true, tags: ["ends"] };
    const waiting = await server.submit(request);
    await server.dispatchOnce();
    const [pending = ""] = await pendingTasks(1, "ends");
    const deletion = await start("delete", { tags: ["ends"] });
    await workOff(deletion.id, server);
    assert.deepEqual([(await bulkOf(deletion.id)).done, (await bulkOf(deletion.id)).skipped], [1, 1]);
    await assert.rejects(server.task(pending));
    assert.deepEqual(await server.database.rows("select task_id as id from task_tags where tag = 'ends'"), [
      { id: waiting },
    ]);

    const { id } = await start("cancel", { queue: "open", statuses: ["waiting", "active"] });
    await workOff(id, server);

    assert.equal((await server.task(waiting)).status, "cancelled");
    assert.deepEqual(
      await server.database.rows("select 1 from bulk_portions where bulk_id = any($1::uuid[])", [
        [id, deletion.id],
      ]),
      [],
    );
  });
});
