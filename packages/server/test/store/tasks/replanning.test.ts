import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it, mock } from "node:test";
import pg from "pg";
import { BREAKER_DEFAULTS } from "../../../src/domain/breaker.ts";
import type { Requester } from "../../../src/domain/identity/principal.ts";
import type { QueueSettings } from "../../../src/domain/queue.ts";
import { SCHEDULE_DEFAULTS } from "../../../src/features/schedules/domain.ts";
import { dueAmong } from "../../../src/store/tasks/due-queues.ts";
import { findEnded } from "../../../src/store/tasks/ended-tasks.ts";
import { listenTo, readEvents } from "../../../src/store/tasks/event-reads.ts";
import { takeCancelledJob } from "../../../src/store/tasks/task-cancellations.ts";
import { claimFromQueues } from "../../../src/store/tasks/task-claims.ts";
import { readToldTasks } from "../../../src/store/tasks/task-reads.ts";
import { releaseTasks } from "../../../src/store/tasks/task-returns.ts";
import { claimDueDeliveries } from "../../../src/store/tasks/webhook-deliveries.ts";
import { SERVER } from "../../places.ts";
import { openTestServer, plainRequest, QUEUE, type TestServer } from "../../test-server.ts";
import type { TextSql } from "../../test-sql.ts";
import { toLiteral, vacuumTasks } from "../../test-store.ts";

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Plan {
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly Plan[];
}

/** A step's figures contain those of the steps below it, but not of a CTE that writes and is not read: then those count. */
function blocksOf(plan: Plan): number {
  const own = (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
  return own > 0 ? own : (plan.Plans ?? []).map(blocksOf).reduce((sum, each) => sum + each, 0);
}

class Undo extends Error {}

/** Far more than any statement needs for ten rows, far less than a walk through all that has piled up. */
const MOST_BLOCKS = 500;

describe("a cached query plan", () => {
  let server: TestServer;
  let statements: Map<string, Statement>;
  let queueId: number;

  before(async () => {
    server = await openTestServer({ concurrency: 10 });
    statements = await recordStatements(liveThroughEverything);
    const [queue] = await server.database.rows<{ id: number }>("select id from queues where name = $1", [
      QUEUE,
    ]);
    queueId = Number(queue?.id);
    await server.database.rows("alter table tasks set (autovacuum_enabled = false)");
    // Each statement is run once more, with the values that it had.
    await server.database.rows("truncate task_tags, simulations, idempotency_keys, schedule_firings");
  });
  after(() => server.close());

  /** On a node that lives on, so that its claims find what they look for. */
  async function liveThroughEverything(): Promise<void> {
    const { principal, target } = server;
    await server.reapEverything();
    const node = await server.openNode();
    /** Tasks that share a statement: two plain ones, then two with keys. */
    const submitPairs = async (...keys: readonly string[]) => {
      await Promise.all(keys.map(() => node.submit()));
      await Promise.all(keys.map((key) => node.submit({ idempotencyKey: key, requestText: "{}" })));
    };
    const flow = { key: "customer", concurrency: 5, rate: 100, period: 60, ordered: null };
    const line = { key: "account", concurrency: null, rate: 100, period: 60, ordered: true };
    const id = await node.submit();
    await node.submit({ idempotencyKey: "once", requestText: "{}" });
    await submitPairs("a", "b");
    await node.submit({ delaySeconds: 60, onCompleteUrl: target.url });
    const waiting = await node.tasks.create(principal, {
      ...plainRequest(target.url),
      waitForCallback: true,
    });
    await node.dispatchOnce();
    await node.callbacks.admit("2001:db8::1");
    await node.callbacks.resolve(waiting.callback?.id ?? "", "{}");
    await server.advance(60);
    await node.dispatchOnce();
    await node.engine.courier.workOnce();
    await node.engine.courier.finished();
    await node.engine.poller.workOnce();
    await node.engine.deadlines.expireOnce();
    await node.tasks.get(principal, id);
    await assert.rejects(node.tasks.dismiss(principal, id));
    await node.tasks.remove(principal, await node.submit({ delaySeconds: 60 }));
    const poll = { urlTemplate: `${target.url}/job`, interval: 5, maxDuration: 600, forwardAuth: false };
    const answers = { statusPath: "_httpStatus", doneValues: ["201"], failValues: [], resultPath: "" };
    await node.submit({ tags: ["one"], pollConfig: { ...poll, ...answers } });
    await node.dispatchOnce();
    await server.advance(5);
    await node.engine.poller.workOnce();
    await node.engine.poller.finished();
    const unwanted = await node.submit({ delaySeconds: 60 });
    await node.tasks.cancel(principal, unwanted);
    await takeCancelledJob(server.database, principal.teamId, unwanted);
    await node.tasks.retry(principal, unwanted, { delaySeconds: 60, priority: null });
    const { teamId } = principal;
    const sandbox: Requester = { ...principal, environment: "test" };
    const simulate = {
      outcome: "callback",
      afterSeconds: 0,
      responseCode: null,
      body: "",
      attempts: 1,
    } as const;
    await node.submit({ simulate }, sandbox);
    const scheduled = { text: "{}", request: { ...plainRequest(target.url), simulate } };
    const terms = { ...SCHEDULE_DEFAULTS, cron: "* * * * *", task: scheduled };
    await node.services.features.schedules.service.create(sandbox, "minutely", terms);
    await node.services.features.sandbox.service.advance(sandbox, 60);
    await claimDueDeliveries(server.database, 1, [{ teamId, most: 10 }]);
    await node.submit({ flow });
    await node.submit({ flow, tags: ["one"] });
    await node.submit({ flow: line });
    await node.queues.create(principal, "line", { ordered: true, concurrency: 1 });
    await node.submit({ queue: "line" });
    const submitHeads = async () => {
      for (const own of [flow, line]) {
        await node.submit({ queue: "line", flow: own });
        await node.dispatchOnce();
      }
    };
    await submitHeads();
    await node.queues.create(principal, "rated", { rate: 100 });
    // The second claim reports the call of the first.
    for (const rated of [{}, { flow }]) {
      await node.submit({ queue: "rated", ...rated });
      await node.dispatchOnce();
    }
    const claimFromTwo = async () => {
      const queues = await server.database.rows<{ queueId: number; epoch: number }>(
        `select id::float8 as "queueId", epoch from queues where name in ('line', 'rated')`,
      );
      const { workerId } = node.engine.lease;
      const request = { teamId: principal.teamId, queue: "", workerId, limit: 10 };
      await claimFromQueues(
        server.database,
        queues.map((queue) => ({ ...request, ...queue })),
      );
    };
    await claimFromTwo();
    const submitUnheld = async () => {
      await node.submit({ queue: "watched" });
      await node.submit({ queue: "watched", flow });
      await node.submit({ queue: "watched", flow: line });
      await node.submit({ queue: "watched-line" });
      await node.dispatchOnce();
    };
    await openBreaker("watched", {});
    await openBreaker("watched-line", { ordered: true });
    await submitUnheld();
    await listenTo(server.database, [teamId]);
    // The first finds that there is a listener, the second knows it.
    await node.submit();
    await node.submit();
    await node.submit({ idempotencyKey: "told", requestText: "{}" });
    await submitPairs("c", "d");
    for (const tags of [null, ["one"]]) {
      await node.submit({ flow, tags });
      await node.submit({ flow, tags });
    }
    for (let index = 0; index < 2; index += 1) {
      await node.submit({ flow: line });
      await node.dispatchOnce();
    }
    await submitUnheld();
    await submitHeads();
    await claimFromTwo();
    await node.tasks.create(principal, { ...plainRequest(target.url), waitForCallback: true });
    await node.submit({ delaySeconds: 60 });
    await server.advance(60);
    await node.dispatchOnce();
    await readEvents(server.database, [{ teamId, position: { xid: "0", seq: "0", index: 0, atMs: 0 } }], 10);
    await readToldTasks(server.database, teamId, new Map([[id, QUEUE]]));
    await dueAmong(server.database, [{ teamId, queue: QUEUE }]);
    await findEnded(server.database, [{ teamId, id }]);
    await releaseTasks(server.database, [{ teamId, id, queueId: 1, fence: 1 }], "sent", 1);
  }

  /** A queue whose circuit breaker holds a host that no task calls. */
  async function openBreaker(name: string, settings: Partial<QueueSettings>): Promise<void> {
    const { id, teamId } = await server.queues.create(server.principal, name, {
      ...settings,
      breaker: BREAKER_DEFAULTS,
    });
    await server.database.rows(
      `with held as (
         insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
         values ($1, $2, 'down.example', 'open', 20, now(), now() + interval '1 day', 30, 1))
       update queues set holds_hosts = true, epoch = epoch + 1 where team_id = $1 and id = $2`,
      [teamId, id],
    );
  }

  const finished = "'completed', now(), now(), null, 'begun'";
  const pendingFrom = (at: string) => `'pending', ${at}, null, ${at}, 'pending'`;
  const due = pendingFrom("now() - interval '1 hour'");
  const delayed = pendingFrom("now() + interval '1 hour'");
  const endAll =
    "update tasks set status = 'completed', due_at = null, list_key = 'begun', completed_at = now()";

  /** Rows straight into the table: what matters here is only that they are many. */
  async function fill(count: number, columns: string, sql: TextSql = server.database): Promise<void> {
    await sql.rows(
      `insert into tasks (team_id, id, queue_id, shape, sandbox, method, url, max_retries, backoff,
                          retry_delay_seconds, timeout_seconds, created_at, priority, status, run_at, completed_at,
                          due_at, list_key)
       select $1, gen_random_uuid(), $2, 'queue', false, 'POST', 'http://localhost/', 3, 'fixed', 1, 30, now(), 5, ${columns}
         from generate_series(1, $3) n`,
      [server.principal.teamId, queueId, count],
    );
  }

  /** Plans each statement now, lets tasks pile up, and runs it by the plan that it has. */
  async function assertFewBlocks(): Promise<void> {
    const walked: string[] = [];
    const undone = server.database.transaction(async (sql) => {
      for (const [name, { text, values }] of statements) {
        await sql.rows(`prepare kept_${name} as ${text}`);
        await sql.rows(`explain execute kept_${name}${listOf(values)}`);
      }
      for (const columns of [finished, due, delayed]) await fill(2_000, columns, sql);
      for (const [name, { values }] of statements) {
        await sql.rows("savepoint before");
        const [row] = await sql.rows<{ "QUERY PLAN": [{ Plan: Plan }] }>(
          `explain (analyze, buffers, format json) execute kept_${name}${listOf(values)}`,
        );
        const blocks = blocksOf(row?.["QUERY PLAN"][0].Plan ?? {});
        if (!(blocks > 0 && blocks < MOST_BLOCKS)) walked.push(`${name}: ${blocks} blocks`);
        await sql.rows("rollback to before");
        await sql.rows(`deallocate kept_${name}`);
      }
      throw new Undo();
    });
    await assert.rejects(undone, Undo);
    assert.deepEqual(walked, []);
  }

  it("is tested for every prepared statement on tasks", async () => {
    const prepared = await namesOfPrepared();
    assert.ok(prepared.length >= 15, prepared.join());
    assert.deepEqual(
      prepared.filter((name) => !statements.has(name)),
      [],
    );
  });

  it("stays efficient when it was made for an empty table", async () => {
    await server.database.rows("truncate tasks");
    await assertFewBlocks();
  });

  for (const ended of [1_000, 2_000, 3_000])
    for (const pending of [1, 3, 5, 10])
      it(`stays efficient when made with ${pending} pending and ${ended} ended tasks`, async () => {
        await server.database.rows("truncate tasks");
        // The index of pending tasks keeps the pages that it grew.
        await fill(ended, due);
        await server.database.rows(endAll);
        await fill(pending, due);
        await vacuumTasks(server.database, "vacuum analyze");
        await assertFewBlocks();
      });

  it("finds due tasks by tasks_due, even if only that index is bloated", async () => {
    await server.database.rows("truncate tasks");
    await fill(3_000, pendingFrom("now() - n * interval '1 second'"));
    await server.database.rows(endAll);
    await fill(1, due);
    await vacuumTasks(server.database, "vacuum analyze");
    for (const other of ["claimable", "listed", "pkey"])
      await server.database.rows(`reindex index tasks_${other}`);

    const { text, values } = statements.get("look_for_due") ?? assert.fail();
    const lines = await server.database.transaction(async (sql) => {
      await sql.rows(`prepare look as ${text}`);
      const explained = await sql.rows<{ "QUERY PLAN": string }>(`explain execute look${listOf(values)}`);
      await sql.rows("deallocate look");
      return explained.map((row) => row["QUERY PLAN"]).join("\n");
    });

    const indexes = [...lines.matchAll(/using (\w+) on tasks/g)].map(([, name]) => name);
    assert.deepEqual(indexes, ["tasks_due", "tasks_due"], lines);
  });

  it("stays efficient when it was made for a large table", async () => {
    await server.database.rows("truncate tasks");
    await fill(20_000, finished);
    await fill(2_000, delayed);
    await server.database.rows("analyze tasks");
    await assertFewBlocks();
  });
});

/** As they stand in the source, where a statement that no test has met yet is found too. */
async function namesOfPrepared(): Promise<string[]> {
  const home = join(SERVER, "src/store/tasks");
  const files = (await readdir(home)).filter((name) => name.endsWith(".ts"));
  const texts = await Promise.all(files.map((name) => readFile(join(home, name), "utf8")));
  return texts.flatMap((text) =>
    [...text.matchAll(/\b(statement|hotStatement)\(\s*"(\w+)"(?:(?!\);).)*/gs)].flatMap(
      ([all, how, name = ""]) => {
        if (how === "hotStatement") return [name, `${name}_with_events`];
        return all.includes("{ prepared: true }") ? [name] : [];
      },
    ),
  );
}

/** Every prepared statement that was sent meanwhile, with the values that it was sent with last. */
async function recordStatements(live: () => Promise<void>): Promise<Map<string, Statement>> {
  const recorded = new Map<string, Statement>();
  const send = pg.Client.prototype.query;
  const spy = mock.method(pg.Client.prototype, "query", function (this: pg.Client, ...args: unknown[]) {
    const [query] = args;
    if (
      typeof query === "object" &&
      query !== null &&
      "name" in query &&
      "text" in query &&
      "values" in query
    )
      recorded.set(String(query.name), {
        text: String(query.text),
        values: Array.isArray(query.values) ? query.values : [],
      });
    return Reflect.apply(send, this, args);
  });
  await live().finally(() => spy.mock.restore());
  return recorded;
}

function listOf(values: readonly unknown[]): string {
  return values.length === 0 ? "" : `(${values.map(toLiteral).join(", ")})`;
}
