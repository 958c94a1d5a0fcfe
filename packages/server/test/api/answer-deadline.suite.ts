import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { until } from "../patience.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const OVER = -60_000;

describe("the deadline of an answer", () => {
  let api: TestApi;
  /** What is done when the time of a request is over, for each that is under way. */
  const missed = new Map<object, () => void>();
  let begun = 0;
  /** How long before its body a request began; less than nothing: its time is over, whenever its body came. */
  let headStartMs = OVER;
  const passTime = () => {
    for (const [deadline, onMissed] of [...missed]) {
      missed.delete(deadline);
      onMissed();
    }
  };
  before(async () => {
    api = await createTestApi({
      deadlines: {
        begin(ms, onMissed) {
          const deadline = { atMs: performance.now() + ms - headStartMs };
          begun += 1;
          missed.set(deadline, onMissed);
          return deadline;
        },
        end: (deadline) => void missed.delete(deadline),
      },
    });
    await api.app.listen({ host: "127.0.0.1", port: 0 });
  });
  after(() => api.close());
  beforeEach(() => {
    missed.clear();
    begun = 0;
    headStartMs = OVER;
  });

  const send = (method: string, path: string) => {
    const { port } = api.app.server.address() as AddressInfo;
    const headers = { ...api.team.headers, "content-type": "application/json" };
    return request({ host: "127.0.0.1", port, method, path, headers });
  };
  const statusOf = async (asked: ReturnType<typeof send>) => {
    const [response] = await once(asked, "response");
    response.resume();
    return [response.statusCode, response.headers["retry-after"]];
  };

  const blockedStatement = async () => {
    const blocked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => (await api.server.database.rows(blocked)).length > 0);
  };

  it("answers 503 at the deadline and ignores the result that arrives later", async () => {
    const { database } = api.server;
    await database.transaction(async (sql) => {
      await sql.rows("select 1 from queues where team_id = $1 for update", [api.team.id]);
      const asked = send("PATCH", "/v1/queues/default");
      asked.end('{"concurrency":3}');
      await blockedStatement();
      passTime();

      assert.deepEqual(await statusOf(asked), [503, "1"]);
    });

    await until(async () => (await api.call("GET", "/v1/queues/default")).body.concurrency === 3);
    assert.deepEqual(
      api.lines.filter(({ level }) => Number(level) >= 40),
      [],
    );
  });

  it("does not run while the client is still sending the body", async () => {
    const asked = send("PATCH", "/v1/queues/default");
    asked.write('{"concurrency":');
    const [received] = await once(api.app.server, "request");
    // The caller is known, and its body is being read.
    await until(() => missed.size > 0 && received.readableFlowing === true);
    passTime();
    asked.end("4}");

    assert.deepEqual(await statusOf(asked), [200, undefined]);
  });

  it("does not count the time in which the client was sending the body", async (test) => {
    let skewMs = 0;
    const now = performance.now.bind(performance);
    test.mock.method(performance, "now", () => now() + skewMs);
    const { database } = api.server;
    await database.transaction(async (sql) => {
      await sql.rows("select 1 from queues where team_id = $1 for update", [api.team.id]);
      headStartMs = 0;
      const asked = send("PATCH", "/v1/queues/default");
      asked.write('{"concurrency":');
      const [received] = await once(api.app.server, "request");
      await until(() => received.readableFlowing === true);
      skewMs = 30_000;
      asked.end("5}");
      await blockedStatement();
      passTime();
      assert.deepEqual([begun, missed.size], [2, 1]);

      passTime();
      assert.deepEqual(await statusOf(asked), [503, "1"]);
    });
    await until(async () => (await api.call("GET", "/v1/queues/default")).body.concurrency === 5);
  });

  it("counts the time before the body is read", async () => {
    const { database } = api.server;
    await database.transaction(async (sql) => {
      await sql.rows("select 1 from queues where team_id = $1 for update", [api.team.id]);
      headStartMs = 1_700;
      const asked = send("PATCH", "/v1/queues/default");
      asked.end('{"concurrency":6}');
      await blockedStatement();
      passTime();
      assert.deepEqual(await statusOf(asked), [503, "1"]);
      assert.equal(begun, 1);
    });
    await until(async () => (await api.call("GET", "/v1/queues/default")).body.concurrency === 6);
  });

  it("does not apply to task lists or to requests with ?wait", async () => {
    for (const path of ["/v1/tasks", "/v1/tasks/task_00000000000000000000000000?wait=1"])
      await api.call("GET", path);
    assert.equal(begun, 0);

    await api.call("GET", "/v1/queues/default");
    assert.deepEqual([begun, missed.size], [1, 0]);
  });
});
