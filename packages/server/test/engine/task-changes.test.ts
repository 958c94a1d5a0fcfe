import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, type TestContext } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { NO_SCAN } from "../../src/service/scan-line.ts";
import type { AskedFilter } from "../../src/service/tasks/task-list.ts";
import { createTestReader } from "../event-log.ts";
import { until } from "../patience.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";
import { ALL_TASKS } from "../test-store.ts";
import { createTestTime, type TestTime } from "../test-time.ts";

/** An event stream reads this soon after a change that was reported to it, and five times later without a report. */
const NOTICE_MS = 100;

/** One way in which a task ends: `start` brings a task close to it, and returns the id and what then ends the task. */
interface Ender {
  readonly name: string;
  readonly sandbox?: boolean;
  start(scene: Scene): Promise<{ readonly id: string; end(): Promise<unknown> }>;
}

interface Scene {
  readonly server: TestServer;
  create(request: Partial<TaskRequest>): Promise<{ readonly id: string; readonly callback: string }>;
}

const once = (server: TestServer, actorName: string) =>
  server.engine.actors.all.find(({ name }) => name === actorName)?.once();

const ENDERS: readonly Ender[] = [
  {
    name: "the settlement of an attempt",
    async start({ server, create }) {
      const { id } = await create({ delaySeconds: 600 });
      const end = async () => {
        await server.advance(600);
        await server.dispatchOnce();
      };
      return { id, end };
    },
  },
  {
    name: "a poll",
    async start({ server, create }) {
      const pollConfig = {
        urlTemplate: `${server.target.url}/job`,
        interval: 5,
        statusPath: "status",
        doneValues: ["done"],
        failValues: [],
        resultPath: "status",
        forwardAuth: true,
        maxDuration: 600,
      };
      server.target.answer = (_call, response) => response.end('{"status":"done"}');
      const { id } = await create({ shape: "direct", pollConfig });
      await server.dispatchOnce();
      const end = async () => {
        await server.advance(5);
        await server.engine.poller.workOnce();
        await server.engine.poller.finished();
      };
      return { id, end };
    },
  },
  {
    name: "a callback",
    async start({ server, create }) {
      const { id, callback } = await create({ shape: "direct", waitForCallback: true });
      await server.dispatchOnce();
      return { id, end: () => server.callbacks.resolve(callback, "{}") };
    },
  },
  {
    name: "a deadline",
    async start({ server, create }) {
      const { id } = await create({ delaySeconds: 600, expiresInSeconds: 1_200 });
      const end = async () => {
        await server.advance(1_200);
        await server.engine.deadlines.expireOnce();
      };
      return { id, end };
    },
  },
  {
    name: "the reaper",
    async start({ server, create }) {
      const calls = server.target.calls.length;
      server.target.hold();
      const { id } = await create({});
      await server.look();
      await server.target.received(calls + 1);
      // Two workers died with this task before: the third is taken for its fault.
      await server.database.rows("update tasks set interruptions = 2 where id = $1", [id]);
      return { id, end: () => server.reapEverything() };
    },
  },
  {
    name: "a cancel",
    async start({ server, create }) {
      const { id } = await create({ delaySeconds: 600 });
      return { id, end: () => server.tasks.cancel(server.principal, id) };
    },
  },
  {
    name: "a bulk cancel",
    async start({ server, create }) {
      const { id } = await create({ delaySeconds: 600 });
      const filter: AskedFilter = { ...ALL_TASKS, statuses: ["pending"], sandbox: null };
      const cancel = { action: "cancel", filter, rate: 1000, said: {} } as const;
      await server.services.features.bulkActions.service.start(server.principal, cancel, NO_SCAN);
      return { id, end: async () => once(server, "bulks") };
    },
  },
  {
    name: "a simulated attempt",
    sandbox: true,
    async start({ server, create }) {
      const simulate = {
        outcome: "complete",
        afterSeconds: 600,
        responseCode: null,
        body: "",
        attempts: 1,
      } as const;
      const { id } = await create({ simulate });
      await once(server, "sandbox");
      const end = () =>
        server.services.features.sandbox.service.advance({ ...server.principal, environment: "test" }, 600);
      return { id, end };
    },
  },
];

/** Who learns of an end in the process that made it. `watch` begins before the end, and tells after it whether it was reported. */
const LISTENERS: Readonly<Record<string, (scene: Watched) => Promise<() => boolean | Promise<boolean>>>> = {
  async "the courier of completion notifications"({ server, context }) {
    const courier = server.engine.actors.all.find(({ name }) => name === "courier");
    assert.ok(courier);
    const wake = context.mock.method(courier, "wake");
    return () => wake.mock.callCount() > 0;
  },
  async "a request that waits for the task"({ server, principal, id }) {
    let isOver = false;
    const { teamId } = principal;
    const { signal } = new AbortController();
    const { waits } = server.services;
    void waits
      .hold(teamId, (untilEnded) => untilEnded({ teamId, id }, 60, signal))
      .then(() => {
        isOver = true;
      });
    // Found by a look which has then asked for our task too. The clock does not move, so no other look follows.
    const ended = await server.submit({ delaySeconds: 600 });
    await server.tasks.cancel(server.principal, ended);
    await waits.hold(teamId, (untilEnded) => untilEnded({ teamId, id: ended }, 60, signal));
    return async () => {
      await new Promise(setImmediate);
      return isOver;
    };
  },
  async "an open event stream"({ server, principal, sandbox, time }) {
    const filter = { sandbox, types: null, queue: null, tag: null };
    const reader = createTestReader();
    await server.services.events.open(principal, filter, null, reader.sink);
    // The stream may be reading what happened so far, because of reports before the end.
    do {
      time.timersMs.length = 0;
      time.pass(1_000);
      await until(() => time.timersMs.length > 0);
    } while (time.timersMs.includes(NOTICE_MS));
    return () => time.timersMs.includes(NOTICE_MS);
  },
  /** Which leave the sandbox out: a simulated failure is no reason for an alarm. */
  async "the metrics"({ server, sandbox }) {
    const ends = async () => {
      const text = await server.services.metrics.renderOwn();
      const counts = text.matchAll(/^bellhop_tasks_ended_total\{.*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await ends();
    return async () => (await ends()) === before + (sandbox ? 0 : 1);
  },
};

interface Watched {
  readonly server: TestServer;
  readonly principal: Requester;
  readonly sandbox: boolean;
  readonly id: string;
  readonly time: TestTime & { readonly timersMs: number[] };
  readonly context: TestContext;
}

describe("the end of a task", () => {
  let server: TestServer;
  let time: Watched["time"];
  beforeEach(async () => {
    const own = createTestTime();
    const timersMs: number[] = [];
    time = {
      ...own,
      timersMs,
      nowMs: Date.now,
      setTimer(work, ms) {
        timersMs.push(ms);
        return own.setTimer(work, ms);
      },
    };
    server = await openTestServer({}, { time });
  });
  afterEach(() => {
    server.target.release();
    return server.close();
  });

  for (const { name, sandbox = false, start } of ENDERS) {
    for (const [listener, watch] of Object.entries(LISTENERS)) {
      it(`by ${name} is reported at once to ${listener}`, async (context) => {
        const principal: Requester = sandbox
          ? { ...server.principal, environment: "test" }
          : server.principal;
        const create = async (request: Partial<TaskRequest>) => {
          const onCompleteUrl = `${server.target.url}/done`;
          const asked = { ...plainRequest(server.target.url), onCompleteUrl, ...request };
          const { id, callback } = await server.tasks.create(principal, asked);
          return { id, callback: callback?.id ?? "" };
        };
        const { id, end } = await start({ server, create });
        const isReported = await watch({ server, principal, sandbox, id, time, context });

        await end();

        assert.equal(await isReported(), true);
        assert.notEqual((await server.tasks.get(principal, id)).completedAt, null);
      });
    }
  }
});
