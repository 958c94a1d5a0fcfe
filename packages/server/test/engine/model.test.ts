import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { Problem } from "../../src/domain/problem.ts";
import { formatTaskId, parseTaskId } from "../../src/domain/task-id.ts";
import { until } from "../patience.ts";
import { openTestServer, type TestNode, type TestServer } from "../test-server.ts";
import { countBothWays } from "../test-store.ts";

/** `MODEL_SEED=… MODEL_RUNS=…` look further; a seed that fails is printed with the shortest sequence that does. */
const seed = Number(process.env["MODEL_SEED"] ?? 20_30);
const numRuns = Number(process.env["MODEL_RUNS"] ?? 12);

type Step =
  | {
      do: "submit";
      node: 0 | 1;
      queue: 0 | 1;
      count: number;
      priority: number;
      delay: number;
      retries: number;
    }
  | { do: "submit sandbox"; queue: 0 | 1 }
  | { do: "look"; node: 0 | 1 }
  | { do: "answer"; count: number; status: number }
  | { do: "delete"; which: number }
  | { do: "cancel" | "retry"; which: number; node: 0 | 1 }
  | { do: "pause" | "resume" | "delete queue" | "create queue"; queue: 0 | 1 }
  | { do: "set concurrency"; queue: 0 | 1; to: number }
  | { do: "pass an hour" | "lose every worker" }
  | { do: "lose worker" | "reconcile" | "clean up"; node: 0 | 1 };

const node = fc.constantFrom<0 | 1>(0, 1);
const queue = fc.constantFrom<0 | 1>(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("submit" as const),
      node,
      queue,
      count: fc.integer({ min: 1, max: 4 }),
      priority: fc.integer({ min: 1, max: 10 }),
      delay: fc.constantFrom(0, 0, 0, 600),
      retries: fc.integer({ min: 0, max: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("look" as const), node }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      count: fc.integer({ min: 1, max: 5 }),
      status: fc.constantFrom(200, 500, 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), which: fc.nat() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom<"cancel" | "retry">("cancel", "cancel", "retry"),
      which: fc.nat(),
      node,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom<"pause" | "resume" | "delete queue" | "create queue">(
        "pause",
        "resume",
        "delete queue",
        "create queue",
      ),
      queue,
    }),
  },
  fc.record({ do: fc.constant("submit sandbox" as const), queue }),
  fc.record({ do: fc.constant("set concurrency" as const), queue, to: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    do: fc.constantFrom<"pass an hour" | "lose every worker">("pass an hour", "lose every worker"),
  }),
  fc.record({
    do: fc.constantFrom<"lose worker" | "reconcile" | "clean up">("lose worker", "reconcile", "clean up"),
    node,
  }),
);

interface Expected {
  readonly queue: string;
  readonly retries: number;
  readonly sandbox: boolean;
  /** How many queues of that name there were before. */
  readonly generation: number;
  /** Calls made by the time it was deleted: there must never be another. */
  callsAtDeletion: number | null;
  /** The number of manual retries. */
  lives: number;
  /** The same of a task that was cancelled. */
  callsAtCancel: number | null;
  /** Its queue was deleted: whatever was pending is gone. */
  mayBeGone: boolean;
}

describe("any sequence of operations", () => {
  let server: TestServer;
  let nodes: readonly [TestNode, TestNode];
  let runs = 0;
  before(async () => {
    server = await openTestServer();
    nodes = [server, await server.openNode()];
    for (const each of nodes) await each.engine.lease.renewOnce();
  });
  after(() => server.close());

  const underWay = () => nodes.reduce((sum, { engine }) => sum + engine.attempts.count, 0);
  const settlements = () => server.log.filter(({ message }) => message === "attempt.settled").length;
  const callsOf = (id: string) =>
    server.target.calls.filter(({ headers }) => headers["bellhop-task-id"] === formatTaskId(id)).length;

  /** Everything has happened that follows from what was done; calls are held by the target. */
  async function comeToRest(): Promise<void> {
    for (let before = -1; before !== underWay(); ) {
      before = underWay();
      await server.quiet();
      for (const each of nodes) await each.rest();
      await until(() => server.target.held.length === underWay());
    }
  }

  async function run(steps: readonly Step[]): Promise<void> {
    runs += 1;
    const names = [`run-${runs}-a`, `run-${runs}-b`] as const;
    const tasks = new Map<string, Expected>();
    const { principal, target } = server;
    const generations = [0, 0];
    const limits = [2, 2];
    let heldBefore = new Set<string>();
    for (const name of names) await server.queues.create(principal, name, { concurrency: 2 });
    target.hold();

    async function submit(node: 0 | 1, queue: 0 | 1, request: object, retries: number, sandbox = false) {
      const as = sandbox ? { ...principal, environment: "test" as const } : principal;
      const id = await nodes[node].submit({ queue: names[queue], maxRetries: retries, ...request }, as);
      const generation = generations[queue] ?? 0;
      const fate = { callsAtDeletion: null, callsAtCancel: null, lives: 0, mayBeGone: false };
      tasks.set(id, { queue: names[queue], retries, sandbox, generation, ...fate });
    }

    async function take(one: Step): Promise<void> {
      switch (one.do) {
        case "submit": {
          const request = { priority: one.priority, delaySeconds: one.delay };
          const all = Array.from({ length: one.count }, () =>
            submit(one.node, one.queue, request, one.retries),
          );
          return void (await Promise.all(all));
        }
        case "submit sandbox":
          return submit(0, one.queue, {}, 0, true);
        case "look":
          return nodes[one.node].look();
        case "answer": {
          const before = settlements();
          const answered = target.held.splice(0, one.count);
          for (const { response } of answered) {
            if (one.status === 0) response.destroy();
            else response.writeHead(one.status).end("{}");
          }
          return until(() => settlements() >= before + answered.length);
        }
        case "delete": {
          const [id, expected] = [...tasks][one.which % Math.max(1, tasks.size)] ?? [];
          if (id === undefined || expected === undefined) return;
          await server.tasks.remove(principal, id);
          expected.callsAtDeletion = callsOf(id);
          return;
        }
        case "cancel": {
          const [id, expected] = [...tasks][one.which % Math.max(1, tasks.size)] ?? [];
          if (id === undefined || expected === undefined) return;
          await nodes[one.node].tasks.cancel(principal, id);
          expected.callsAtCancel = callsOf(id);
          return;
        }
        case "retry": {
          const [id, expected] = [...tasks][one.which % Math.max(1, tasks.size)] ?? [];
          if (id === undefined || expected === undefined) return;
          await nodes[one.node].tasks.retry(principal, id, { delaySeconds: 0, priority: null });
          expected.callsAtCancel = null;
          expected.lives += 1;
          return;
        }
        case "pause":
        case "resume":
          return void (await server.queues.setPaused(principal, names[one.queue], one.do === "pause"));
        case "delete queue":
          await server.queues.remove(principal, names[one.queue]);
          for (const task of tasks.values()) if (task.queue === names[one.queue]) task.mayBeGone = true;
          return;
        case "create queue":
          await server.queues.create(principal, names[one.queue], { concurrency: 2 });
          generations[one.queue] = (generations[one.queue] ?? 0) + 1;
          limits[one.queue] = 2;
          return;
        case "set concurrency":
          await server.queues.update(principal, names[one.queue], { concurrency: one.to });
          limits[one.queue] = one.to;
          return;
        case "pass an hour":
          await server.advance(3600);
          for (const each of nodes) await each.engine.lease.renewOnce();
          return;
        case "lose every worker":
          await server.reapEverything();
          for (const each of nodes) await each.engine.lease.renewOnce();
          return;
        case "lose worker":
          await server.database.rows("delete from workers where id = $1", [
            nodes[one.node].engine.lease.workerId,
          ]);
          await nodes[one.node === 0 ? 1 : 0].engine.reaper.reapOnce();
          await nodes[one.node].engine.lease.renewOnce();
          return;
        case "reconcile":
          return void (await nodes[one.node].engine.attempts.reconcileOnce());
        case "clean up":
          return void (await nodes[one.node].engine.janitor.cleanOnce());
      }
    }

    async function assertTallied(): Promise<void> {
      const { tallied, counted } = await countBothWays(server.database);
      assert.deepEqual(tallied, counted);
    }

    /** What was over a limit that was lowered may end; nothing may start until it is below (promise E). */
    function assertWithinLimits(): void {
      const held = target.held.map(({ call }) => parseTaskId(String(call.headers["bellhop-task-id"])) ?? "");
      assert.equal(new Set(held).size, held.length, "no task has two calls at once");
      for (const [index, name] of names.entries()) {
        const ofQueue = held.filter((id) => {
          const task = tasks.get(id);
          return task?.queue === name && task.generation === generations[index];
        });
        const started = ofQueue.filter((id) => !heldBefore.has(id));
        const limit = limits[index] ?? 0;
        assert.ok(ofQueue.length <= limit || started.length === 0, `${ofQueue.length} calls, limit ${limit}`);
      }
      heldBefore = new Set(held);
    }

    for (const one of steps) {
      // A refusal is an answer like any other: a queue that is gone, a task that is no longer pending.
      await take(one).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      });
      await comeToRest();
      await assertTallied();
      assertWithinLimits();
    }

    // Whatever happened, from here on the targets answer, and everything must come to its end.
    target.answer = (_call, response) => response.end("{}");
    target.release();
    for (const name of names) {
      const ignore = () => {};
      await server.queues.setPaused(principal, name, false).catch(ignore);
    }
    await server.quiet();
    for (let hour = 0; hour < 4; hour += 1) {
      await server.advance(3600);
      for (const each of nodes) await each.engine.lease.renewOnce();
      for (const each of nodes) await each.dispatchOnce();
      await server.quiet();
      for (const each of nodes) await each.engine.attempts.finished();
    }
    await assertTallied();
    await assertOutcome(tasks);
  }

  async function assertOutcome(tasks: ReadonlyMap<string, Expected>): Promise<void> {
    for (const [id, expected] of tasks) {
      const task = await server.task(id).catch(() => null);
      if (expected.callsAtDeletion !== null) {
        assert.equal(task, null, "a deleted task is gone");
        assert.equal(callsOf(id), expected.callsAtDeletion, "no call is made after a delete");
        continue;
      }
      if (task === null) {
        assert.ok(expected.mayBeGone, "an accepted task is never lost");
        continue;
      }
      if (expected.callsAtCancel !== null) {
        assert.equal(task.status, "cancelled", "a cancelled task stays so");
        assert.equal(callsOf(id), expected.callsAtCancel, "no call is begun after a cancel");
        continue;
      }
      if (expected.sandbox) {
        assert.deepEqual([task.status, callsOf(id)], ["pending", 0]);
        continue;
      }
      assert.ok(task.status === "completed" || task.status === "failed", `${task.status}: it never ended`);
      assert.deepEqual(
        task.attempts.map(({ number }) => number),
        task.attempts.map((_, index) => index + 1),
      );
      const failures = task.attempts.filter(({ status }) => status === "failed").length;
      const successes = task.attempts.filter(({ status }) => status === "success").length;
      assert.equal(successes, task.status === "completed" ? 1 : 0);
      assert.equal(task.retries, expected.lives);
      const earlier = expected.lives * (1 + expected.retries);
      if (task.status === "completed") assert.ok(failures <= earlier + expected.retries);
      if (task.failureReason === "retries_exhausted") {
        assert.ok(failures >= 1 + expected.retries && failures <= earlier + 1 + expected.retries);
      }
      if (task.failureReason === "queue_deleted") assert.ok(expected.mayBeGone);
    }
  }

  it("keeps tallies exact and concurrency within limits, and every task ends", async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), run), {
      seed,
      numRuns,
      endOnFailure: process.env["MODEL_SHRINK"] === undefined,
    });
  });
});
