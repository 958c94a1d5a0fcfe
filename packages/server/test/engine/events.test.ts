import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { SERVER_SENT } from "../../src/api/tasks/event-view.ts";
import type { EventFilter } from "../../src/domain/event.ts";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { createLimitsOf } from "../../src/domain/limits.ts";
import type { Simulation } from "../../src/domain/task.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { systemTime } from "../../src/server/system-time.ts";
import { removeOldRecords } from "../../src/service/retention.ts";
import { createEventFeed, type EventStream } from "../../src/service/tasks/event-feed.ts";
import { PAGE_EVENTS } from "../../src/service/tasks/event-pages.ts";
import { createEventSerializer, type EventSerializer } from "../../src/service/tasks/event-serializer.ts";
import type { Sql } from "../../src/store/sql.ts";
import { readEvents } from "../../src/store/tasks/event-reads.ts";
import { writeQueueEvent } from "../../src/store/tasks/event-writes.ts";
import { insertTasks } from "../../src/store/tasks/task-intake.ts";
import { createTestReader, type TestReader, type ToldEvent } from "../event-log.ts";
import { lockLate } from "../late-lock.ts";
import { until } from "../patience.ts";
import { openTestServer, plainRequest, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { watchDatabase } from "../test-sql.ts";
import { newTask } from "../test-store.ts";

const EVERYTHING: EventFilter = { sandbox: false, types: null, queue: null, tag: null };

const COMPLETE: Simulation = {
  outcome: "complete",
  afterSeconds: 0,
  responseCode: null,
  body: "",
  attempts: 1,
};

const limitsOf = createLimitsOf();

describe("events", () => {
  let server: TestServer;
  let other: TestNode;
  let status = 200;
  before(async () => {
    server = await openTestServer({ concurrency: 20, maxRetries: 1, retryDelaySeconds: 0 });
    server.target.answer = (_, response) => void response.writeHead(status).end();
    other = await server.openNode();
  });
  after(async () => {
    for (const { close } of streams) close();
    await server.close();
  });
  const streams: EventStream[] = [];

  /** A reader on a node, of a team of its own. */
  async function follow(
    options: {
      home?: TestServer;
      team?: Requester;
      node?: TestNode;
      filter?: Partial<EventFilter>;
      after?: string;
    } = {},
  ): Promise<{ team: Requester; reader: TestReader; openedAt: string; close(): void }> {
    const { home = server } = options;
    const { team = await home.openTeam({ maxRetries: 1, retryDelaySeconds: 0 }), node = home } = options;
    const reader = createTestReader();
    const filter = { ...EVERYTHING, ...options.filter };
    const { events } = node.services;
    const stream = await events.open(team, filter, options.after ?? null, reader.sink);
    streams.push(stream);
    return { team, reader, openedAt: stream.lastId, close: stream.close };
  }

  const rowsOf = async ({ teamId }: Requester) =>
    (await server.database.rows("select 1 from events where team_id = $1", [teamId])).length;

  it("report each state of a task from creation to end, to a reader on another node", async () => {
    const { team, reader } = await follow({ node: other });
    status = 500;
    const id = await server.submit({ tags: ["eu"], delaySeconds: 60 }, team);
    await reader.log.reaches(1);
    await server.tasks.cancel(team, id);
    await server.tasks.retry(team, id, { delaySeconds: 0, priority: null });
    await server.advance(60);
    await server.dispatchOnce();
    await reader.log.reaches(4);
    status = 200;
    await server.advance(60);
    await server.dispatchOnce();
    await reader.log.reaches(6);

    assert.deepEqual(reader.log.names(), [
      "task.created",
      "task.cancelled",
      "task.started",
      "task.attempt_failed",
      "task.started",
      "task.completed",
    ]);
    const tasks = reader.log.events.map(({ data }) => data.task);
    assert.deepEqual(
      tasks.map((task) => task.status),
      ["pending", "cancelled", "active", "pending", "active", "completed"],
    );
    assert.equal(new Set(tasks.map((task) => task.id)).size, 1);
    assert.deepEqual(tasks[0].tags, ["eu"]);
    assert.equal("started_at" in tasks[0], false);
    assert.equal(tasks[3].error, "The target answered 500");
    assert.deepEqual([tasks[5].result.statusCode, "body" in tasks[5].result], [200, false]);
  });

  it("report the last failed attempt as task.failed only", async () => {
    const { team, reader } = await follow();
    await server.queues.update(team, QUEUE, { maxRetries: 0 });
    status = 500;
    await server.submit({}, team);
    await server.dispatchOnce();
    await reader.log.reaches(4);
    status = 200;

    assert.deepEqual(reader.log.names(), ["queue.changed", "task.created", "task.started", "task.failed"]);
    assert.equal(reader.log.events[3]?.data.task.failure_reason, "retries_exhausted");
  });

  it("report a handed-off task as created and started, and resume between the two", async (test) => {
    // Of two nodes the other might have the queue's slots.
    const home = await openTestServer();
    test.after(home.close);
    const team = await home.openTeam();
    // The first of a queue is claimed: that gives the node its slots.
    await home.submit({}, team);
    await home.dispatchOnce();
    const { reader, close } = await follow({ home, team });
    await home.submit({}, team);
    await home.dispatchOnce();
    await reader.log.reaches(3);

    assert.deepEqual(reader.log.names(), ["task.created", "task.started", "task.completed"]);
    const kept = await home.database.rows<{ type: string }>(
      "select entries -> 0 ->> 0 as type from events where team_id = $1 order by xid, seq",
      [team.teamId],
    );
    assert.equal(kept[0]?.type, "task.handed_off");
    const [created, ...later] = reader.log.events;
    const again = await follow({ home, team, after: created?.id ?? "" });
    await again.reader.log.reaches(2);
    assert.deepEqual(again.reader.log.events, later);
    close();
    again.close();
  });

  it("report that a task waits for a callback, and its completion", async () => {
    const { team, reader } = await follow({ filter: { types: ["task.waiting", "task.completed"] } });
    const request = { ...plainRequest(server.target.url), waitForCallback: true };
    const { callback } = await server.tasks.create(team, request);
    await server.dispatchOnce();
    await server.callbacks.resolve(callback?.id ?? "", "{}");
    await reader.log.reaches(2);
    assert.deepEqual(reader.log.names(), ["task.waiting", "task.completed"]);
  });

  it("report the creation, pause, resumption and deletion of a queue", async () => {
    const { team, reader } = await follow();
    await server.queues.create(team, "letters", {});
    await server.queues.setPaused(team, "letters", true);
    await server.queues.setPaused(team, "letters", true);
    await server.queues.setPaused(team, "letters", false);
    await server.queues.remove(team, "letters");
    await reader.log.reaches(4);
    assert.deepEqual(reader.log.names(), ["queue.created", "queue.paused", "queue.resumed", "queue.deleted"]);
    const [first, second] = reader.log.events;
    assert.deepEqual([first?.data.queue.name, first?.data.queue.paused], ["letters", false]);
    assert.equal(second?.data.queue.paused, true);
  });

  it("are not written for an unsubscribed team, and share rows within a batch", async () => {
    const quiet = await server.openTeam();
    const { team, reader } = await follow();
    await server.submit({}, quiet);
    await server.dispatchOnce();
    await Promise.all(Array.from({ length: 20 }, () => server.submit({ delaySeconds: 60 }, team)));
    await reader.log.reaches(20);

    assert.equal(await rowsOf(quiet), 0);
    assert.ok((await rowsOf(team)) < 10, `${await rowsOf(team)} rows`);
  });

  it("are no longer written once the team's subscription has lapsed", async () => {
    const { team, close } = await follow();
    close();
    // Delayed: a task that starts at once writes further events whenever it does.
    await server.submit({ delaySeconds: 60 }, team);
    assert.equal(await rowsOf(team), 1);
    await server.database.rows("update listeners set until = now() where team_id = $1", [team.teamId]);
    await server.submit({ delaySeconds: 60 }, team);
    assert.equal(await rowsOf(team), 1);
  });

  it("of sandbox and live tasks are in separate streams", async () => {
    const { team, reader } = await follow();
    const sandbox = await follow({ team, filter: { sandbox: true } });
    await server.submit({ simulate: COMPLETE }, { ...team, environment: "test" });
    await server.submit({ delaySeconds: 60 }, team);
    await server.queues.setPaused(team, QUEUE, true);
    await server.services.features.sandbox.walk.walkOnce();
    await Promise.all([reader.log.reaches(2), sandbox.reader.log.reaches(3)]);
    assert.deepEqual(reader.log.names(), ["task.created", "queue.paused"]);
    assert.equal(reader.log.events[0]?.data.task.sandbox, undefined);
    assert.deepEqual(sandbox.reader.log.names(), ["task.created", "task.started", "task.completed"]);
    assert.equal(sandbox.reader.log.events[0]?.data.task.sandbox, true);
  });

  it("are filtered by type, queue and tag", async () => {
    const { team, reader } = await follow({ filter: { types: ["task.created"], queue: QUEUE, tag: "eu" } });
    await server.queues.create(team, "letters", {});
    await server.submit({ tags: ["eu"], queue: "letters", delaySeconds: 60 }, team);
    await server.submit({ tags: ["us"], delaySeconds: 60 }, team);
    await server.submit({ tags: ["us", "eu"] }, team);
    await server.dispatchOnce();
    const last = await server.submit({ tags: ["eu"], delaySeconds: 60 }, team);
    await reader.log.reaches(2);
    assert.deepEqual(reader.log.names(), ["task.created", "task.created"]);
    assert.equal((await server.tasks.get(team, last)).id, last);
  });

  it("carry only id, queue and status of a task that was deleted since", async () => {
    const { team, openedAt, close } = await follow();
    close();
    const id = await server.submit({ delaySeconds: 60, tags: ["eu"] }, team);
    await server.tasks.remove(team, id);
    const { reader } = await follow({ team, after: openedAt, filter: { tag: "eu" } });
    await reader.log.reaches(1);
    const [created] = reader.log.events;
    assert.equal(created?.event, "task.created");
    assert.deepEqual(created?.data, { task: { id: formatTaskId(id), queue: QUEUE, status: "pending" } });
  });

  it("reach a reader that reconnects to alternating nodes, without gap or duplicate", async () => {
    const { team, openedAt, close } = await follow();
    close();
    const nodes = [server, other];
    const ids: string[] = [];
    const write = async (node: TestNode) => {
      for (let count = 0; count < 15; count += 1) ids.push(await node.submit({}, team));
      await node.dispatchOnce();
    };
    const written = Promise.all([...nodes, ...nodes].map(write));
    const told: ToldEvent[] = [];
    for (let round = 0; told.length < 180; round += 1) {
      const node = round % 2 === 0 ? server : other;
      const { reader, close: leave } = await follow({ team, node, after: told.at(-1)?.id ?? openedAt });
      await reader.log.reaches(1);
      leave();
      told.push(...reader.log.events);
    }
    await written;

    assert.equal(told.filter(({ event }) => event === "reset").length, 0);
    assert.equal(new Set(told.map(({ id }) => id)).size, told.length);
    for (const kind of ["task.created", "task.started", "task.completed"]) {
      const tasks = told.filter(({ event }) => event === kind).map(({ data }) => data.task.id);
      assert.deepEqual(tasks.sort(), ids.map(formatTaskId).sort(), kind);
    }
  });

  it("of plain tasks come in the order of their changes, with the task's run_at", async () => {
    const { team, reader } = await follow();
    const ids = await Promise.all([server.submit({}, team), server.submit({}, team)]);
    await server.dispatchOnce();
    await reader.log.reaches(6);

    for (const id of ids) {
      const { createdAt, runAt } = await server.tasks.get(team, id);
      const own = reader.log.events.filter(({ data }) => data.task.id === formatTaskId(id));
      assert.deepEqual(
        own.map(({ event, data }) => [event, data.task.status, data.task.run_at]),
        [
          ["task.created", "pending", createdAt.toISOString()],
          ["task.started", "active", createdAt.toISOString()],
          ["task.completed", "completed", runAt.toISOString()],
        ],
      );
    }
  });

  it("are read less often after a large batch, until batches are small again", async () => {
    const team = await server.openTeam();
    const pauses: number[] = [];
    // Its wait for statements of other nodes is a timer, too.
    const sql: Sql = {
      rows: async (query, values) =>
        query.name === "older_statements" ? [] : server.database.rows(query, values),
    };
    const feed = createEventFeed({
      sql,
      time: {
        ...systemTime,
        setTimer(work, ms) {
          pauses.push(Math.round(ms));
          return systemTime.setTimer(work, 0);
        },
      },
      words: SERVER_SENT,
      serializer: {
        async look(questions) {
          // Something happens while it looks.
          feed.notice();
          const text = new Uint8Array(pauses.length === 2 ? 100_000 : 1_000);
          return questions.map(({ position }) => ({ texts: [text], position, hasMore: false }));
        },
      },
    });
    const { sink } = createTestReader();
    const stream = await feed.open(team, EVERYTHING, null, { ...sink, write: () => {} });
    await until(() => pauses.length >= 4);
    stream.close();
    assert.deepEqual(pauses.slice(0, 4), [500, 100, 200, 100]);
  });

  it("are not announced by ready while a change is under way that began before the subscription", async () => {
    const team = await server.openTeam();
    const { id: queueId } = await server.queues.get(team, QUEUE);
    const task = { ...newTask({ teamId: team.teamId, id: queueId, name: QUEUE }), delaySeconds: 60 };
    const sql = watchDatabase(server.database);
    let looks = 0;
    sql.after = (statement) => {
      if (statement === "older_statements") looks += 1;
    };
    const serializer = createEventSerializer(server.database, SERVER_SENT);
    // It would not wait for ever.
    const time = { ...systemTime, monotonicMs: () => 0 };
    const feed = createEventFeed({ sql, time, words: SERVER_SENT, serializer });
    const reader = createTestReader();
    let opening: Promise<EventStream> | null = null as Promise<EventStream> | null;

    await lockLate(
      server.database,
      (within) =>
        insertTasks(within, [{ task, reservation: null }], 0, 0, {
          statementsLeft: Number.POSITIVE_INFINITY,
        }),
      async () => {
        opening = feed.open(team, EVERYTHING, null, reader.sink);
        await until(() => looks >= 2);
        assert.deepEqual(reader.log.readyIds, []);
      },
    );

    const stream = await opening;
    assert.ok(stream !== null);
    streams.push(stream);
    assert.deepEqual(reader.log.readyIds, [stream.lastId]);
    assert.equal(await rowsOf(team), 0);
  });

  it("are not announced by ready before the commit of a transaction that created a task before the subscription", async () => {
    const team = await server.openTeam();
    const { id: queueId } = await server.queues.get(team, QUEUE);
    const task = { ...newTask({ teamId: team.teamId, id: queueId, name: QUEUE }), delaySeconds: 60 };
    const sql = watchDatabase(server.database);
    let looks = 0;
    sql.after = (statement) => {
      if (statement === "older_statements") looks += 1;
    };
    const serializer = createEventSerializer(server.database, SERVER_SENT);
    const time = { ...systemTime, monotonicMs: () => 0 };
    const feed = createEventFeed({ sql, time, words: SERVER_SENT, serializer });
    const reader = createTestReader();

    let early: readonly string[] = [];

    const { opening } = await server.database.transaction(async (within) => {
      const memory = { statementsLeft: Number.POSITIVE_INFINITY };
      await insertTasks(within, [{ task, reservation: null }], 0, 0, memory);
      // After a statement like this one the session shows no snapshot.
      await within.rows("select 1");
      const opening = feed.open(team, EVERYTHING, null, reader.sink);
      await until(() => looks >= 2 || reader.log.readyIds.length > 0);
      early = [...reader.log.readyIds];
      return { opening };
    });

    const stream = await opening;
    streams.push(stream);
    assert.deepEqual(early, []);
    assert.deepEqual(reader.log.readyIds, [stream.lastId]);
    assert.equal(await rowsOf(team), 0);
  });

  it("reach a reader that connects during a read for other readers", async () => {
    const team = await server.openTeam();
    const direct = createEventSerializer(server.database, SERVER_SENT);
    let letGo = () => {};
    let isAsked = false;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const serializer: EventSerializer = {
      async look(questions) {
        isAsked = true;
        await held;
        return direct.look(questions);
      },
    };
    const feed = createEventFeed({ sql: server.database, time: systemTime, words: SERVER_SENT, serializer });
    const [first, second] = [createTestReader(), createTestReader()];
    streams.push(await feed.open(team, EVERYTHING, null, first.sink));
    await until(() => isAsked);
    streams.push(await feed.open(team, EVERYTHING, null, second.sink));
    await server.submit({ delaySeconds: 60 }, team);
    letGo();

    await Promise.all([first.log.reaches(1), second.log.reaches(1)]);
    assert.deepEqual(second.log.events, first.log.events);
  });

  it("resume without a reset on a node that is still opening an earlier stream", async () => {
    const { team, reader } = await follow({ node: other });
    let answer = () => {};
    let questions = 0;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const sql = watchDatabase(server.database);
    sql.after = (statement) => (statement === "read_events" && ++questions === 1 ? held : undefined);
    const serializer = createEventSerializer(server.database, SERVER_SENT);
    const feed = createEventFeed({ sql, time: systemTime, words: SERVER_SENT, serializer });
    const first = feed.open(team, EVERYTHING, null, createTestReader().sink);
    await until(() => questions === 1);
    await server.submit({ delaySeconds: 60 }, team);
    await reader.log.reaches(1);
    const again = createTestReader();
    const second = feed.open(team, EVERYTHING, reader.log.lastId, again.sink);
    answer();
    streams.push(await first, await second);

    assert.deepEqual([again.log.names(), again.log.readyIds], [[], [reader.log.lastId]]);
  });

  it("of several pages reach a reader exactly once, also one that resumes in the middle of a statement's", async () => {
    const { team, openedAt, reader: ahead } = await follow();
    const queue = await server.queues.get(team, QUEUE);
    const [statements, each] = [3, PAGE_EVENTS + 100];
    const count = statements * each;
    await server.database.rows(
      `insert into events (team_id, sandbox, queue, entries)
         select $1, false, $2, $3 from generate_series(1, $4::integer)`,
      [
        team.teamId,
        QUEUE,
        JSON.stringify(Array.from({ length: each }, () => ["queue.changed", queue])),
        statements,
      ],
    );
    // It must not join the reader that has read them already before it has read them all itself.
    await ahead.log.reaches(count);
    const ids = ahead.log.events.map(({ id }) => id);
    for (const missed of [count, each + 50]) {
      const { reader } = await follow({ team, after: ids.at(-missed - 1) ?? openedAt });
      await reader.log.reaches(missed);
      assert.deepEqual(
        reader.log.events.map(({ id }) => id),
        ids.slice(-missed),
      );
    }
    assert.equal(new Set(ids).size, count);
  });

  it("stop with the end of the stream when the team's subscription has lapsed", async () => {
    const team = await server.openTeam();
    let passedMs = 0;
    const feed = createEventFeed({
      sql: server.database,
      time: { ...systemTime, monotonicMs: () => systemTime.monotonicMs() + passedMs },
      words: SERVER_SENT,
      serializer: createEventSerializer(server.database, SERVER_SENT),
    });
    const reader = createTestReader();
    streams.push(await feed.open(team, EVERYTHING, null, reader.sink));
    await server.database.rows("update listeners set until = now() - interval '1 s' where team_id = $1", [
      team.teamId,
    ]);
    passedMs = 600_000;
    await until(() => reader.hasEnded);
  });

  it("wait for older open transactions, and are then sent in transaction order", async () => {
    const { team, reader } = await follow();
    const { horizon } = await readEvents(server.database, [], 0);
    const place = { teamId: team.teamId, position: horizon };
    const queue = await server.queues.get(team, QUEUE);
    await server.database.transaction(async (sql) => {
      await writeQueueEvent(sql, "queue.changed", queue);
      await server.submit({ delaySeconds: 60 }, team);
      assert.deepEqual((await readEvents(server.database, [place], 10)).pages[0]?.rows, []);
    });
    await reader.log.reaches(2);
    assert.deepEqual(reader.log.names(), ["queue.changed", "task.created"]);
  });

  it("resume without a reset when the stream was opened during an older transaction", async () => {
    const team = await server.openTeam();
    let resumed: TestReader | null = null as TestReader | null;
    await server.database.transaction(async (sql) => {
      await sql.rows("select pg_current_xact_id()");
      const { openedAt, reader: first, close } = await follow({ team });
      assert.deepEqual(first.log.readyIds, [openedAt]);
      close();
      await server.submit({ delaySeconds: 60 }, team);
      const { reader } = await follow({ team, node: other, after: openedAt });
      resumed = reader;
    });
    await resumed?.log.reaches(1);
    assert.deepEqual(resumed?.log.names(), ["task.created"]);
  });

  it("resume without a reset while a transaction that was passed before holds events back", async () => {
    const { team, reader, close } = await follow();
    const queue = await server.queues.get(team, QUEUE);
    let resumed: TestReader | null = null as TestReader | null;
    await server.database.transaction(async (sql) => {
      await sql.rows("select pg_current_xact_id()");
      await server.submit({ delaySeconds: 60 }, team);
      await reader.log.reaches(1);
      close();
      await writeQueueEvent(sql, "queue.changed", queue);
      ({ reader: resumed } = await follow({ team, node: other, after: reader.log.lastId }));
      await server.submit({ delaySeconds: 60 }, team);
      assert.deepEqual(resumed.log.readyIds, [reader.log.lastId]);
      assert.deepEqual(resumed.log.names(), []);
    });
    await resumed?.log.reaches(2);
    assert.deepEqual(resumed?.log.names(), ["queue.changed", "task.created"]);
  });

  it("start with a reset when some may be missing, and continue from there", async () => {
    const { team, reader, close } = await follow();
    await server.submit({ delaySeconds: 60 }, team);
    await reader.log.reaches(1);
    close();
    const [xid = "", seq, index, atMs = ""] = reader.log.lastId.split("-");
    const lost = {
      "what no stream has given out": "yesterday",
      "an event of more than 24 hours ago": [xid, seq, index, Number(atMs) - 25 * 3_600_000].join("-"),
      "an event of another life of the database": [`9${xid}`, seq, index, atMs].join("-"),
    };
    for (const [what, lastId] of Object.entries(lost)) {
      const { reader: again, close: leave } = await follow({ team, after: lastId });
      assert.deepEqual([again.log.names(), again.log.readyIds], [["reset"], ["0-0-0-0"]], what);
      leave();
    }
    await server.database.rows(
      "update listeners set until = now() - interval '1 second' where team_id = $1",
      [team.teamId],
    );
    const { reader: late } = await follow({ team, after: reader.log.lastId });
    await server.submit({ delaySeconds: 60 }, team);
    await late.log.reaches(2);
    assert.deepEqual(late.log.names(), ["reset", "task.created"]);
  });

  it("disconnect a reader that does not keep up, and no other", async () => {
    const { team, reader: slow } = await follow();
    const { reader: quick } = await follow({ team });
    await server.submit({ delaySeconds: 60 }, team);
    await Promise.all([slow.log.reaches(1), quick.log.reaches(1)]);
    slow.waitingBytes = 2_000_000;
    await server.submit({ delaySeconds: 60 }, team);
    await quick.log.reaches(2);
    await until(() => slow.wasCut);
    assert.equal(quick.wasCut, false);
  });

  it("are refused to readers beyond the plan's stream limit until one closes", async () => {
    const team = { ...(await server.openTeam()), plan: "free" as const, limits: limitsOf("free", null) };
    const readers = await Promise.all(Array.from({ length: 5 }, () => follow({ team })));
    await assert.rejects(follow({ team }), {
      code: "streams_full",
      status: 429,
      message: "The plan free allows at most 5 open event streams on a node (eventStreams): close one first",
    });
    await server.submit({ delaySeconds: 60 }, team);
    await Promise.all(readers.map(({ reader }) => reader.log.reaches(1)));
    for (const { close } of readers) close();
    const { close } = await follow({ team });
    close();
  });

  it("are removed after a day", async () => {
    const { team, reader } = await follow();
    await server.submit({ delaySeconds: 60 }, team);
    await reader.log.reaches(1);
    await server.database.rows("update events set at = at - interval '26 hours' where team_id = $1", [
      team.teamId,
    ]);
    await removeOldRecords(server.database, []);
    assert.equal(await rowsOf(team), 0);
  });
});
