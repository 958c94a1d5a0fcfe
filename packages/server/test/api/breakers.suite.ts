import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const DEFAULTS = { failures: 20, ratio: 0.9, within: 60, cooldown: 30 };

describe("circuit breakers", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  /** As if the attempts of a queue of this name to the host had failed. */
  async function open(queue: string, host: string): Promise<void> {
    const made = await api.call("POST", "/v1/queues", { name: queue, breaker: true });
    assert.equal(made.status, 201);
    await api.server.database.rows(
      `with held as (
         update queues set holds_hosts = true, epoch = epoch + 1 where team_id = $1 and name = $2 returning team_id, id)
       insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
       select team_id, id, $3, 'open', 21, now(), now() + interval '1 hour', 30, 1 from held`,
      [api.team.id, queue, host],
    );
  }

  it("are set on a queue with their defaults, in part, as a whole, and switched off", async () => {
    const made = await api.call("POST", "/v1/queues", { name: "watched", breaker: true });
    const change = async (breaker: unknown) =>
      (await api.call("PATCH", "/v1/queues/watched", { breaker })).body.breaker;

    assert.deepEqual(made.body.breaker, DEFAULTS);
    assert.deepEqual(await change({ failures: 3, ratio: 0.5 }), { ...DEFAULTS, failures: 3, ratio: 0.5 });
    const most = { failures: 10_000, ratio: 1, within: 3600, cooldown: 600 };
    assert.deepEqual(await change(most), most);
    assert.equal(
      (await api.call("PATCH", "/v1/queues/watched", { timeout: 9 })).body.breaker.failures,
      10_000,
    );
    assert.equal(await change(false), false);
  });

  it("are refused outside of their ranges, by the name of the field", async () => {
    for (const breaker of [
      { failures: 0 },
      { ratio: 0.05 },
      { ratio: 1.5 },
      { within: 3601 },
      { cooldown: 601 },
      { failures: 1.5 },
      "yes",
      7,
    ]) {
      const { status, body } = await api.call("POST", "/v1/queues", { name: "refused", breaker });
      assert.equal(status, 400, JSON.stringify(breaker));
      assert.match(body.error, /breaker/);
    }
    const errorOf = async (breaker: unknown) =>
      (await api.call("POST", "/v1/queues", { name: "refused", breaker })).body.error;
    assert.equal(await errorOf("yes"), "breaker must be true or false or an object");
    assert.equal(
      await errorOf({ failures: 0 }),
      'breaker["failures"] must be an integer between 1 and 10000',
    );
    assert.equal(await errorOf({ failure: 3 }), 'Unknown field "failure" (did you mean "failures"?)');
  });

  it("are listed while they are open, explain a waiting task, and are closed in one queue or in all", async () => {
    await open("first", "down.example:8443");
    await open("second", "down.example:8443");
    const { body: task } = await api.call("POST", "/v1/tasks", {
      queue: "first",
      webhook_url: "https://Down.example:8443/hook",
    });

    const listed = (await api.call("GET", "/v1/breakers")).body.breakers;
    const page = (await api.call("GET", "/v1/breakers?limit=1")).body;
    const next = await api.call(
      "GET",
      `/v1/breakers?cursor=${encodeURIComponent(page.pagination.nextCursor)}`,
    );
    const [reason] = (await api.call("GET", `/v1/tasks/${task.id}/explain`)).body.reasons;
    const closed = await api.call("POST", "/v1/breakers/down.example:8443/close", { queue: "first" });
    const rest = await api.call("POST", "/v1/breakers/DOWN.example:8443/close");

    const { opened_at, until } = listed[0];
    assert.deepEqual(listed[0], {
      queue: "first",
      host: "down.example:8443",
      state: "open",
      failures: 21,
      opened_at,
      until,
    });
    assert.equal(Date.parse(until) - Date.parse(opened_at), 3_600_000);
    assert.deepEqual(
      [listed.length, page.breakers[0].queue, next.body.breakers[0].queue],
      [2, "first", "second"],
    );
    assert.deepEqual([reason.code, reason.until], ["breaker_open", until]);
    assert.deepEqual(closed.body, { host: "down.example:8443", closed: ["first"] });
    assert.deepEqual(rest.body, { host: "down.example:8443", closed: ["second"] });
    assert.deepEqual((await api.call("GET", "/v1/breakers")).body, { breakers: [] });
  });

  it("that are not open, of other teams or of an unknown queue are answered 404", async () => {
    await open("own", "other.example");
    const other = await api.openTeam();
    const ask = (headers = {}, body?: object) =>
      api.call("POST", "/v1/breakers/other.example/close", body, headers);
    const foreign = other.headers;

    assert.deepEqual((await api.call("GET", "/v1/breakers", undefined, foreign)).body, { breakers: [] });
    assert.deepEqual(
      [(await ask(foreign)).status, (await ask(foreign)).body.code],
      [404, "breaker_not_found"],
    );
    assert.equal((await ask({}, { queue: "nowhere" })).body.code, "queue_not_found");
    assert.equal((await api.call("POST", "/v1/breakers/a%2Fb/close")).status, 400);
    assert.equal((await ask()).status, 200);
  });
});
