import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, before, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { createLimitsOf, type OwnLimits } from "../../src/domain/limits.ts";
import { POLL_DEFAULTS } from "../../src/domain/poll/poll-config.ts";
import { Secret } from "../../src/domain/secret.ts";
import { paceByHost } from "../../src/engine/host-pace.ts";
import type { RecordedCall } from "../../src/engine/outgoing.ts";
import { NOTHING_STORED } from "../../src/features/flow-control/domain.ts";
import { SCHEDULE_DEFAULTS } from "../../src/features/schedules/domain.ts";
import { NO_SCAN } from "../../src/service/scan-line.ts";
import { until } from "../patience.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";
import { ALL_TASKS } from "../test-store.ts";
import { createTestTime, type TestTime } from "../test-time.ts";

const limitsOf = createLimitsOf();

describe("a plan with limits", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer();
  });
  after(() => server.close());

  async function openFree(own: OwnLimits | null = null): Promise<Requester> {
    const guest = await server.openTeam();
    await server.database.rows("update teams set limits = $2::jsonb where id = $1", [
      guest.teamId,
      own === null ? null : JSON.stringify(own),
    ]);
    return { ...guest, plan: "free", limits: limitsOf("free", own) };
  }

  /** The node keeps its lease: it is held for 12 s, in all tests together. */
  async function freeze(seconds: number): Promise<void> {
    server.freeze(seconds);
    await server.engine.lease.renewOnce();
  }

  const pollConfig = {
    ...POLL_DEFAULTS,
    urlTemplate: "https://api.example.com/jobs",
    statusPath: "status",
    doneValues: ["done"],
    failValues: [],
  };

  it("refuses a task whose timeout, retries or polling exceed it, and names the limit", async () => {
    const guest = await openFree();
    const refused: [object, RegExp][] = [
      [{ timeoutSeconds: 301 }, /^timeout must be at most 300: timeoutSeconds of the plan free$/],
      [{ maxRetries: 11 }, /^max_retries must be at most 10: retries of the plan free$/],
      [{ pollConfig: { ...pollConfig, interval: 1 } }, /^interval must be at least 5: pollIntervalSeconds/],
      [{ pollConfig: { ...pollConfig, maxDuration: 3601 } }, /^maxDuration must be at most 3600/],
    ];
    for (const [request, message] of refused)
      await assert.rejects(server.submit(request, guest), { code: "invalid", status: 400, message });
    await server.submit({ timeoutSeconds: 300, maxRetries: 10, delaySeconds: 60 }, guest);
  });

  it("refuses a queue with a retry delay of 0", async () => {
    const guest = await openFree();
    await assert.rejects(server.queues.create(guest, "hasty", { retryDelaySeconds: 0 }), {
      message: "retry_delay must be at least 1: retryDelaySeconds of the plan free",
    });
  });

  it("limits the retries of a task that was created under a larger plan", async () => {
    const guest = await openFree({ retries: 1, retryDelaySeconds: 7 });
    server.target.answer = (_, response) => response.writeHead(500).end();
    const larger = { ...guest, limits: limitsOf("enterprise", null) };
    const id = await server.submit({ maxRetries: 50 }, larger);
    await server.dispatchOnce();
    const { runAt } = await server.tasks.get(guest, id);
    const waitMs = runAt.getTime() - Date.now();
    assert.ok(waitMs > 5_000, `the retry waits for ${waitMs} ms`);

    await server.advance(10);
    await server.dispatchOnce();

    const task = await server.tasks.get(guest, id);
    assert.deepEqual([task.status, task.failureReason], ["failed", "retries_exhausted"]);
  });

  it("refuses a queue and a vault token beyond its limits", async () => {
    const guest = await openFree({ queues: 2, vaultTokens: 0 });
    await server.queues.create(guest, "second", {});
    await assert.rejects(server.queues.create(guest, "third", {}), {
      code: "limit_reached",
      status: 403,
      message: "The plan free allows at most 2 queues (queues)",
    });
    const token = { name: "key", value: new Secret("s3cret-value"), allowedHosts: null };
    await assert.rejects(server.services.vault.create(guest, token), { code: "limit_reached" });
  });

  it("refuses a schedule and a webhook beyond its limits", async () => {
    const guest = await openFree({ schedules: 1, webhooks: 1 });
    const task = { text: "{}", request: plainRequest(server.target.url) };
    const terms = { ...SCHEDULE_DEFAULTS, cron: "0 3 * * *", task };
    const schedules = server.services.features.schedules.service;
    const webhooks = server.services.features.webhooks.service;
    await schedules.create(guest, "first", terms);
    const oneMore = schedules.create(guest, "second", terms);
    await assert.rejects(oneMore, {
      code: "limit_reached",
      message: "The plan free allows at most 1 schedules (schedules)",
    });
    assert.equal((await schedules.put(guest, "first", terms)).isNew, false);
    await schedules.remove(guest, "first");
    await schedules.create(guest, "second", terms);

    const subscription = {
      url: server.target.url,
      events: ["task.created" as const],
      queue: null,
      tag: null,
      enabled: false,
    };
    await webhooks.create(guest, subscription);
    await assert.rejects(webhooks.create(guest, subscription), {
      code: "limit_reached",
      message: "The plan free allows at most 1 webhooks (webhooks)",
    });
  });

  it("refuses a task of one flow too many, and takes more of those with open tasks", async () => {
    const guest = await openFree({ flowsOpen: 2 });
    const submit = (key: string) =>
      server.submit(
        { delaySeconds: 60, flow: { key, concurrency: null, rate: null, period: null, ordered: null } },
        guest,
      );
    await submit("one");
    await submit("two");
    const refused = {
      code: "flows_full",
      status: 429,
      retryAfterSeconds: 5,
      message: "The plan free allows at most 2 flows with open tasks (flowsOpen)",
    };
    await assert.rejects(submit("three"), refused);
    await freeze(6);
    await submit("two");
    await assert.rejects(submit("three"), refused);
    // A paused key with tasks that wait is one of them.
    await server.services.features.flows.service.setPaused(guest, "one", true);
    await freeze(6);
    await assert.rejects(submit("three"), refused);
    await freeze(6);
    await assert.rejects(submit("three"), refused);
    await submit("one");
    await server.submit({ delaySeconds: 60 }, guest);
  });

  it("refuses a task beyond its limit of open tasks, and accepts one after a deletion", async () => {
    const guest = await openFree({ tasksOpen: 3 });
    const ids = [];
    for (let index = 0; index < 3; index += 1) ids.push(await server.submit({ delaySeconds: 60 }, guest));
    await assert.rejects(server.submit({ delaySeconds: 60 }, guest), {
      code: "tasks_full",
      status: 429,
      retryAfterSeconds: 5,
      message: "The plan free allows at most 3 tasks that have not ended (tasksOpen)",
    });

    await server.tasks.remove(guest, ids[0] ?? "");
    await freeze(3);
    // Counted in the background: a request that finds the count old is still decided by it.
    await until(() =>
      server.submit({ delaySeconds: 60 }, guest).then(
        () => true,
        () => false,
      ),
    );
  });

  const flowNamed = (key: string) => ({ key, concurrency: null, rate: null, period: null, ordered: null });

  /** Cancelled tasks of a team, of which the limits hold from now on. */
  async function cancelledTasks(
    own: OwnLimits,
    ...tasks: readonly (string | null)[]
  ): Promise<{ readonly guest: Requester; readonly ids: readonly string[] }> {
    const guest = await openFree(own);
    const larger = { ...guest, limits: limitsOf("enterprise", null) };
    const ids = [];
    for (const key of tasks)
      ids.push(
        await server.submit({ delaySeconds: 60, ...(key !== null && { flow: flowNamed(key) }) }, larger),
      );
    for (const id of ids) await server.tasks.cancel(larger, id);
    return { guest, ids };
  }

  const retry = (guest: Requester, id = "") =>
    server.tasks.retry(guest, id, { delaySeconds: 60, priority: null });

  it("refuses a retry that would be one open task too many, and accepts it after a deletion", async () => {
    const { guest, ids } = await cancelledTasks({ tasksOpen: 2 }, null, null, null);
    await retry(guest, ids[0]);
    await retry(guest, ids[1]);

    await assert.rejects(retry(guest, ids[2]), {
      code: "tasks_full",
      status: 429,
      retryAfterSeconds: 5,
      message: "The plan free allows at most 2 tasks that have not ended (tasksOpen)",
    });
    assert.equal((await server.tasks.get(guest, ids[2] ?? "")).status, "cancelled");
    await assert.rejects(retry(guest, ids[0]), { code: "task_not_retryable" });

    await server.tasks.remove(guest, ids[0] ?? "");
    await freeze(3);
    await until(() =>
      retry(guest, ids[2]).then(
        () => true,
        () => false,
      ),
    );
  });

  it("refuses a retry of one flow too many", async () => {
    const { guest, ids } = await cancelledTasks({ flowsOpen: 1 }, "one", "two", "one");
    await retry(guest, ids[0]);
    await assert.rejects(retry(guest, ids[1]), { code: "flows_full", status: 429 });
    await retry(guest, ids[2]);
  });

  it("lets a bulk retry wait until there is room for more open tasks", async () => {
    const { guest, ids } = await cancelledTasks({ tasksOpen: 3 }, null, null, null, null, null);
    const { service } = server.services.features.bulkActions;
    const filter = { ...ALL_TASKS, sandbox: null };
    const retries = { action: "retry", filter, rate: 1000, said: {} } as const;
    const { id } = await service.start(guest, retries, NO_SCAN);
    const actor = server.engine.actors.all.find(({ name }) => name === "bulks");
    const turn = async () => {
      await server.database.rows("update bulks set next_at = now() where status = 'running'");
      await actor?.once();
    };
    await turn();
    const { status, done, skipped } = await service.get(guest, id);
    assert.deepEqual([status, done, skipped], ["running", 3, 0]);

    await turn();
    assert.equal((await service.get(guest, id)).done, 3);
    const [row] = await server.database.rows<{ waits: boolean }>(
      "select next_at > now() + interval '3 seconds' as waits from bulks where id = $1",
      [id],
    );
    assert.equal(row?.waits, true);

    for (const each of ids.slice(0, 2)) await server.tasks.remove(guest, each);
    await freeze(3);
    await until(async () => {
      await turn();
      return (await service.get(guest, id)).status === "completed";
    });
    assert.equal((await service.get(guest, id)).done, 5);
  });

  it("counts a paused flow among those with something stored", async () => {
    const guest = await openFree({ flows: 2 });
    const { service } = server.services.features.flows;
    const refused = {
      code: "limit_reached",
      message: "The plan free allows at most 2 flows with stored limits (flows)",
    };
    await service.put(guest, "stored", { ...NOTHING_STORED, concurrency: 1 });
    await service.setPaused(guest, "stored", true);
    await service.setPaused(guest, "paused", true);
    await service.setPaused(guest, "paused", true);

    await assert.rejects(service.setPaused(guest, "third", true), refused);
    await assert.rejects(service.put(guest, "third", { ...NOTHING_STORED, concurrency: 1 }), refused);

    await service.setPaused(guest, "paused", false);
    await service.setPaused(guest, "third", true);
  });

  it("refuses a task when the stored bytes have reached the limit", async () => {
    const guest = await openFree({ bytesStored: 2_000 });
    const call = { method: "POST" as const, url: server.target.url, headers: {}, body: "x".repeat(3_000) };
    await server.submit({ call, delaySeconds: 60 }, guest);
    await assert.rejects(server.submit({ call, delaySeconds: 60 }, guest), {
      code: "limit_reached",
      message: "The plan free allows at most 2000 bytes stored (bytesStored)",
    });
  });

  it("keeps only the beginning of an answer when the stored bytes have reached the limit", async () => {
    const guest = await openFree({ bytesStored: 10_000 });
    server.target.answer = (_, response) => response.end("x".repeat(6_000));
    const bodies: (string | undefined)[] = [];
    for (let index = 0; index < 3; index += 1) {
      const id = await server.submit({}, guest);
      await server.dispatchOnce();
      bodies.push((await server.tasks.get(guest, id)).result?.body);
    }
    assert.deepEqual(
      bodies.map((body) => body?.length),
      [6_000, 1_024, 1_024],
    );
  });
});

describe("calls to one host", () => {
  function pace(): {
    time: TestTime;
    left: string[];
    send(teamId: number, url: string, signal?: AbortSignal): void;
  } {
    const time = createTestTime();
    const left: string[] = [];
    const paced = paceByHost(
      {
        send: async ({ teamId, call }) => {
          left.push(`${teamId} ${call.url}`);
          return { kind: "refused", reason: "blocked", error: "" };
        },
      },
      (teamId) => limitsOf(teamId === 1 ? "free" : "enterprise", null),
      time,
    );
    return {
      time,
      left,
      send: (teamId, url, signal = new AbortController().signal) =>
        void paced.send({ teamId, call: { url }, signal } as RecordedCall),
    };
  }

  it("are paced after one second's quota, separately for each team and host", async () => {
    const { time, left, send } = pace();
    for (let index = 0; index < 30; index += 1) {
      send(1, "http://one.test/");
      send(2, "http://one.test/");
    }
    send(1, "http://other.test/");
    const count = (text: string) => left.filter((each) => each === text).length;

    assert.deepEqual([count("1 http://one.test/"), count("2 http://one.test/")], [11, 30]);
    assert.equal(count("1 http://other.test/"), 1);
    time.pass(1_000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(count("1 http://one.test/"), 21);
  });

  it("that share an abort signal use one listener, and all leave when it aborts", async () => {
    const { left, send } = pace();
    const tearDown = new AbortController();
    for (let index = 0; index < 30; index += 1) send(1, "http://one.test/", tearDown.signal);
    assert.equal(left.length, 11);
    assert.equal(getEventListeners(tearDown.signal, "abort").length, 1);
    tearDown.abort();
    send(1, "http://one.test/", tearDown.signal);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(left.length, 31);
  });
});
