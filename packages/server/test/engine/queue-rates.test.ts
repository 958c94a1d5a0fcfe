import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { publicTaskId } from "../../src/domain/task-id.ts";
import type { Time } from "../../src/domain/time.ts";
import { systemTime } from "../../src/server/system-time.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";

/** A permit is void after 100 ms: a busy machine must not make it so. */
const SLOW: Time = { ...systemTime, monotonicMs: () => systemTime.monotonicMs() / 1_000 };
const flow = { key: "customer", concurrency: null, rate: null, period: null, ordered: null };

/** No window of the length of the period has more begun calls than the rate. */
describe("a queue with a rate", () => {
  let server: TestServer;
  afterEach(() => server.close());

  const open = async (rate: number, more: Parameters<typeof openTestServer>[0] = {}) => {
    server = await openTestServer({ concurrency: 50, rate, ratePeriod: 60, ...more }, { time: SLOW });
  };
  const submitMany = async (
    node: TestNode,
    count: number,
    request: Parameters<TestNode["submit"]>[0] = {},
  ) => {
    const ids: string[] = [];
    for (let each = 0; each < count; each += 1) ids.push(await node.submit(request));
    return ids;
  };
  /** So many calls have begun in all, and no more do. */
  const assertBegun = async (count: number) => {
    await server.settled(count);
    await server.quiet();
    assert.equal(server.target.calls.length, count);
  };
  const passPeriod = async (...nodes: readonly TestNode[]) => {
    await server.advance(61);
    for (const node of nodes) node.engine.dispatcher.lookAgain(server.principal.teamId, QUEUE);
  };

  it("begins as many calls in a period as it may, and the next when calls have left the window", async () => {
    await open(2);
    await submitMany(server, 5);
    await assertBegun(2);

    await passPeriod(server);
    await assertBegun(4);
    await passPeriod(server);
    await assertBegun(5);
  });

  it("shares its rate between two nodes", async () => {
    await open(3);
    const other = await server.openNode();
    for (const node of [server, other]) await node.engine.lease.renewOnce();
    await Promise.all([submitMany(server, 4), submitMany(other, 4)]);
    await assertBegun(3);

    await passPeriod(server, other);
    await assertBegun(6);
  });

  it("opens by itself when the window does", async () => {
    server = await openTestServer({ rate: 1, ratePeriod: 1 }, { time: SLOW });
    await submitMany(server, 2);
    await assertBegun(1);
    await server.settled(2);
  });

  it("counts the calls of a node that was killed", async () => {
    await open(2);
    server.target.hold();
    const ids = await submitMany(server, 2);
    await server.target.received(2);
    const other = await server.openNode();
    await server.reapEverything();
    await other.engine.lease.renewOnce();
    for (const id of ids) assert.equal((await server.task(id)).status, "pending");
    await other.look();
    await other.rest();
    assert.equal(server.target.calls.length, 2);

    await passPeriod(other);
    await server.target.received(4);
    server.target.release(4);
  });

  it("voids the permits of a process that was frozen after its claim, and keeps counting them", async () => {
    await open(1);
    let isFrozen = false;
    server.databases.claim.after = (name) => {
      if (name !== "take_queue_permits" || isFrozen) return;
      isFrozen = true;
      server.freeze(0.2);
    };
    const id = await server.submit();
    await server.quiet();
    await server.rest();
    assert.equal(server.target.calls.length, 0);
    assert.equal((await server.task(id)).status, "pending");

    await passPeriod(server);
    await assertBegun(1);
    assert.equal((await server.task(id)).status, "completed");
  });

  it("takes no permit for a task that its flow holds back, and no place in the flow without a permit", async () => {
    await open(2);
    const limited = { ...flow, concurrency: 1 };
    server.target.hold();
    await submitMany(server, 3, { flow: limited });
    await server.target.received(1);
    await submitMany(server, 2);
    await server.target.received(2);
    await server.quiet();
    assert.equal(server.target.calls.length, 2);
    server.target.release(2);
    await assertBegun(2);

    await passPeriod(server);
    await server.target.received(4);
    server.target.release(2);
    await assertBegun(4);
    await passPeriod(server);
    await server.target.received(5);
    server.target.release(1);
    await assertBegun(5);
  });

  it("keeps strict order", async () => {
    await open(2, { ordered: true, concurrency: 1 });
    const ids = await submitMany(server, 3);
    await assertBegun(2);
    await passPeriod(server);
    await assertBegun(3);
    assert.deepEqual(
      server.target.calls.map(({ headers }) => headers["bellhop-task-id"]),
      ids.map((id) => publicTaskId({ id, shape: "queue" })),
    );
  });

  it("applies a new rate at once, and none once it is removed", async () => {
    await open(1);
    await submitMany(server, 6);
    await assertBegun(1);

    await server.queues.update(server.principal, QUEUE, { rate: 3 });
    await assertBegun(3);

    await server.queues.update(server.principal, QUEUE, { rate: null });
    await assertBegun(6);
  });

  it("is explained, with the time of the next start", async () => {
    await open(1);
    const [, second = "", third = ""] = await submitMany(server, 3);
    await assertBegun(1);
    const explain = (id: string) => server.services.explanations.explain(server.principal, id);
    const { reasons, startsAbout } = await explain(second);
    const [reason] = reasons;
    assert.deepEqual([reason?.code, reasons.length], ["queue_rate", 1]);
    assert.match(reason?.detail ?? "", /^1 calls of queue ".+" began in the last 60 s, and 1 may$/);
    assert.equal(startsAbout?.getTime(), reason?.until?.getTime());
    const later = await explain(third);
    assert.equal((later.startsAbout?.getTime() ?? 0) - (startsAbout?.getTime() ?? 0), 60_000);
  });
});
