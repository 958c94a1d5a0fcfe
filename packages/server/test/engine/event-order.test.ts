import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { EventFilter } from "../../src/domain/event.ts";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { WHOLE_LIST } from "../../src/domain/page.ts";
import { createTaskChanges } from "../../src/domain/task-changes.ts";
import { createBulkWorker } from "../../src/features/bulk-actions/worker.ts";
import { NO_SCAN } from "../../src/service/scan-line.ts";
import type { EventStream } from "../../src/service/tasks/event-feed.ts";
import { type EventPlace, listenTo, readEvents } from "../../src/store/tasks/event-reads.ts";
import { cancelTask } from "../../src/store/tasks/task-cancellations.ts";
import { claimDueTasks } from "../../src/store/tasks/task-claims.ts";
import { settleAttempts } from "../../src/store/tasks/task-settlements.ts";
import { createTestReader, untilEventsAreReadable } from "../event-log.ts";
import { until } from "../patience.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { createGate, type TextDatabase, type TextSql, watchDatabase } from "../test-sql.ts";
import { ALL_TASKS, claimRequest, live, openTestStore, settlementOf, type TestStore } from "../test-store.ts";

const EVERYTHING: EventFilter = { sandbox: false, types: null, queue: null, tag: null };

/*
 * A transaction draws its id when it first writes or locks something, which may be long before it changes a task. These tests
 * let transactions change one task in another order than that of their ids.
 */
describe("events of a task that a bulk action cancels while it is called", () => {
  let server: TestServer;
  let team: Requester;
  let stream: EventStream | null = null;
  before(async () => {
    server = await openTestServer();
    team = await server.openTeam({ maxRetries: 3, retryDelaySeconds: 60 });
    server.target.answer = ({ path }, response) =>
      void response.writeHead(path.startsWith("/hook") ? 204 : 500).end();
  });
  after(async () => {
    stream?.close();
    await server.close();
  });

  const round = (name: string) => server.engine.actors.all.find((actor) => actor.name === name)?.once();

  it("are streamed and delivered in the order of its changes, with rising timestamps", async () => {
    const reader = createTestReader();
    stream = await server.services.events.open(team, EVERYTHING, null, reader.sink);
    const expected = ["task.created", "task.started", "task.attempt_failed", "task.cancelled"] as const;
    const { id: webhookId } = await server.services.features.webhooks.service.create(team, {
      url: `${server.target.url}/hook`,
      events: expected,
      queue: null,
      tag: null,
      enabled: true,
    });
    await server.queues.setPaused(team, QUEUE, true);
    const id = await server.submit({}, team);
    const filter = { ...ALL_TASKS, queue: QUEUE, sandbox: null };
    const cancel = { action: "cancel", filter, rate: 1000, said: {} } as const;
    await server.services.features.bulkActions.service.start(team, cancel, NO_SCAN);

    // The bulk action has locked its row, and so has its transaction id, before the task is called.
    const gate = createGate();
    const database = watchDatabase(server.database);
    database.before = (statement) => {
      if (statement === "cancel_task") return gate.wait();
    };
    const bulks = createBulkWorker({
      database,
      changes: createTaskChanges(),
      reopening: async () => null,
      follow: async () => {},
    });
    const turn = bulks.workOnce();
    await gate.reached;
    await server.queues.setPaused(team, QUEUE, false);
    await server.dispatchOnce();
    gate.open();
    await turn;
    assert.equal((await server.tasks.get(team, id)).status, "cancelled");

    const isTasks = (name: string) => name.startsWith("task.");
    await until(() => reader.log.names().filter(isTasks).length >= expected.length);
    assert.deepEqual(reader.log.names().filter(isTasks), expected);

    await untilEventsAreReadable(server.database);
    await round("webhooks");
    const { items } = await server.services.features.webhooks.service.deliveries(team, webhookId, WHOLE_LIST);
    assert.deepEqual(items.map(({ event }) => event).reverse(), expected);
    await server.engine.webhookCourier.workOnce();
    await server.engine.webhookCourier.finished();
    const bodies = server.target.calls
      .filter(({ path }) => path.startsWith("/hook"))
      .map(({ body }) => JSON.parse(body));
    const timestamps = expected.map((type) => bodies.find((body) => body.type === type)?.timestamp);
    assert.deepEqual(timestamps, [...timestamps].sort());
  });
});

describe("events of one task", () => {
  let store: TestStore;
  let held: TextDatabase;
  before(async () => {
    store = await openTestStore();
    held = store.open(4);
  });
  after(() => store.close());

  /** A transaction that has its id already, and is used later. */
  async function begin(): Promise<TextSql & { pid: number; commit(): Promise<void> }> {
    let commit = () => {};
    const isOver = new Promise<void>((resolve) => {
      commit = resolve;
    });
    return new Promise((resolve, reject) => {
      const done = held.transaction(async (sql) => {
        await sql.rows("set local idle_in_transaction_session_timeout = 0; set local lock_timeout = 0");
        const [row] = await sql.rows<{ pid: number }>("select pg_backend_pid() as pid, pg_current_xact_id()");
        resolve({
          rows: sql.rows,
          pid: row?.pid ?? 0,
          async commit() {
            commit();
            await done;
          },
        });
        await isOver;
      });
      done.catch(reject);
    });
  }

  /** Reads on from where it was, an event at a time, as a reader does that comes back again and again. */
  function createWitness(teamId: number): {
    readonly told: string[];
    read(): Promise<void>;
    reaches(count: number): Promise<void>;
  } {
    const told: string[] = [];
    let place: EventPlace = { teamId, position: { xid: "0", seq: "0", index: 0, atMs: 0 } };
    const witness = {
      told,
      async read() {
        for (;;) {
          const { pages } = await readEvents(store.database, [place], 1);
          const [page] = pages;
          if (page === undefined || page.rows.length === 0) return;
          told.push(...page.rows.flatMap(({ entries }) => entries).map(([type]) => type));
          place = { teamId, position: page.position };
        }
      },
      reaches: (count: number) =>
        until(async () => {
          await witness.read();
          return told.length >= count;
        }),
    };
    return witness;
  }

  async function openListenedQueue() {
    const teamId = await store.openTeam();
    await listenTo(store.database, [teamId]);
    const queue = await store.openQueue({}, teamId);
    const workerId = await store.openWorker();
    const [id = ""] = await store.insert(queue, {});
    const request = await claimRequest(store.database, queue, { workerId });
    return { teamId, id, request, witness: createWitness(teamId) };
  }

  it("are read in the order of its changes when transaction ids are in reverse order", async () => {
    const { teamId, id, request, witness } = await openListenedQueue();
    const transactions = [await begin(), await begin(), await begin(), await begin()];
    const changes: ((sql: TextSql) => Promise<unknown>)[] = [
      async (sql) => {
        const { claims } = await claimDueTasks(sql, request);
        const [claim] = claims;
        assert.ok(claim);
        changes[1] = (next) =>
          settleAttempts(
            next,
            [settlementOf(claim, { kind: "retry", waitMs: -1000, error: "500" })],
            request.workerId,
          );
      },
      async () => assert.fail("it follows the claim"),
      (sql) => claimDueTasks(sql, request),
      (sql) => cancelTask(sql, live(teamId), id),
    ];
    for (const change of changes.keys()) {
      const transaction = transactions.pop();
      assert.ok(transaction);
      await changes[change]?.(transaction);
      await transaction.commit();
      await witness.read();
    }
    await witness.reaches(5);
    assert.deepEqual(witness.told, [
      "task.created",
      "task.started",
      "task.attempt_failed",
      "task.started",
      "task.cancelled",
    ]);
  });

  it("are read in the order of its changes when the second began before the first commit", async () => {
    const { teamId, id, request, witness } = await openListenedQueue();
    const [cancelling, claiming] = [await begin(), await begin()];
    await claimDueTasks(claiming, request);
    const cancelled = cancelTask(cancelling, live(teamId), id);
    const blocked = "select 1 from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'";
    await until(async () => (await store.database.rows(blocked, [cancelling.pid])).length > 0);
    await claiming.commit();
    assert.notEqual(await cancelled, null);
    await cancelling.commit();

    await witness.reaches(3);
    assert.deepEqual(witness.told, ["task.created", "task.started", "task.cancelled"]);
  });
});
