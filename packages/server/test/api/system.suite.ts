import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { newApiKey, storeApiKey } from "../../src/service/access/api-key-service.ts";
import { SCHEMA_VERSION } from "../../src/store/migrate.ts";
import { until } from "../patience.ts";
import { createTestApi, type TestApi } from "./test-api.ts";
import type { Credential } from "./test-team.ts";

describe("GET /v1/system", () => {
  let api: TestApi;
  let operator: Credential;
  before(async () => {
    api = await createTestApi();
    const key = newApiKey("live");
    await storeApiKey(api.server.database, api.server.principal.teamId, "Operator's", key);
    operator = { authorization: `Bearer ${key}` };
    // Another suite may have let the time of the lease pass.
    await api.server.engine.lease.renewOnce();
    await beat();
  });

  const beat = () => api.server.engine.actors.all.find(({ name }) => name === "heartbeat")?.once();
  const ask = (headers: Credential = operator) => api.call("GET", "/v1/system", undefined, headers);

  it("shows the operator's team the nodes and the database", async () => {
    const { status, body } = await ask();

    assert.equal(status, 200);
    const [node] = body.nodes;
    assert.equal(body.nodes.length, 1);
    assert.deepEqual(
      { ...node, startedAt: "", lagMs: 0, clockOffsetMs: 0, loopLagMs: 0, version: "" },
      {
        name: "test",
        role: "all",
        version: "",
        startedAt: "",
        lagMs: 0,
        lease: "held",
        slots: node.slots,
        callsInFlight: 0,
        maxInFlight: 1000,
        clockOffsetMs: 0,
        loopLagMs: 0,
      },
    );
    assert.ok(Math.abs(Date.now() - Date.parse(node.startedAt)) < 600_000);
    assert.ok(Math.abs(node.clockOffsetMs) < 60_000);
    assert.equal(body.database.schema, SCHEMA_VERSION);
    assert.equal(body.database.embedded, false);
    assert.match(body.database.version, /^\d+/);
    assert.ok(body.database.sizeBytes > 1_000_000);
    assert.ok(body.database.connections >= 1);
    assert.ok(body.database.maxConnections >= body.database.connections);
    assert.equal(body.database.disk, null);
  });

  it("shows a late heartbeat, and an expired or lost lease", async () => {
    const { database } = api.server;
    await database.rows("update nodes set seen_at = seen_at - interval '1 minute'");
    await database.rows("update workers set expires_at = expires_at - interval '1 minute'");
    const late = (await ask()).body.nodes[0];
    assert.ok(late.lagMs >= 60_000);
    assert.equal(late.lease, "expired");

    await database.rows("update nodes set worker_id = null");
    assert.equal((await ask()).body.nodes[0].lease, "lost");

    await api.server.engine.lease.renewOnce();
    await beat();
    const well = (await ask()).body.nodes[0];
    assert.ok(well.lagMs < 60_000);
    assert.equal(well.lease, "held");
  });

  it("shows the longest delay of the event loop since the heartbeat before", async () => {
    const { loop } = api.server.services;
    const lag = async () => {
      await beat();
      return (await ask()).body.nodes[0].loopLagMs;
    };
    await beat();
    for (const lateMs of [3, 41, 7]) loop.endSecond(lateMs);
    assert.equal(await lag(), 41);
    assert.equal(await lag(), 0);
  });

  it("shows which transaction holds events back, and for how long", async () => {
    const { database } = api.server;
    const shown = async () => (await ask()).body.events;
    await until(async () => (await shown()).holder === null, { everyMs: 50 });
    assert.equal((await shown()).behindSeconds, 0);
    await database.transaction(async (sql) => {
      const [own] = await sql.rows<{ pid: number; user: string; since: string }>(
        `with written as (insert into events (team_id, sandbox, queue, entries) values (0, false, '', '[]'))
         select pg_backend_pid() as pid, current_user as user`,
      );
      await until(async () => (await shown()).holder !== null, { everyMs: 50 });
      const { behindSeconds, holder } = await shown();
      const { since, ...rest } = holder;
      assert.deepEqual(rest, { application: "test", ...own, state: "idle in transaction" });
      assert.ok(behindSeconds >= 1);
      assert.ok(Number.isFinite(Date.parse(since)));
    });
    await until(async () => (await shown()).holder === null, { everyMs: 50 });
  });

  it("answers 404 to any other team", async () => {
    const unknown = await api.call("GET", "/v1/nothing", undefined, api.team.headers);
    const { status, body } = await ask(api.team.headers);
    assert.equal(status, 404);
    assert.deepEqual(body, unknown.body);
  });
});
