import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const LAST_ID = "ffffffff-ffff-4fff-bfff-ffffffffffff";

describe("the removal of a URL group", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const put = (name: string) =>
    api.call("PUT", `/v1/url-groups/${name}`, { endpoints: [{ name: "one", url: "https://a.example/" }] });

  /** Schedules in the order of their ids; `$2` is the request of all but the last, and `$3` of that one. */
  async function schedule(...requests: readonly object[]): Promise<void> {
    await api.server.database.rows(
      `insert into schedules (team_id, id, sandbox, name, cron, timezone, overlap, catch_up, task, request)
       select $1, case when n = 1200 then '${LAST_ID}' else gen_random_uuid() end, false, 's' || n, '0 3 * * *', 'UTC', 'skip', 'one', '{}',
              case when n = 1200 then $3 else $2 end
         from generate_series(1, 1200) n`,
      [api.team.id, ...requests.map((request) => JSON.stringify(request))],
    );
  }

  it("is refused while one of many schedules publishes to it, whatever bodies mention", async () => {
    for (const name of ["used", "mentioned", "endpoints"]) assert.equal((await put(name)).status, 201);
    const mention = { call: { body: '{"topic":"mentioned"}' }, tags: { topic: "mentioned" }, message: null };
    await schedule(mention, { call: { body: null }, message: { topic: "used" } });

    const remove = (path: string, body?: object) => api.call("DELETE", path, body);
    const used = await remove("/v1/url-groups/used");
    assert.deepEqual([used.status, used.body.code], [412, "url_group_used"], used.text);
    const last = await remove("/v2/topics/used/endpoints", { endpoints: [{ name: "one" }] });
    assert.equal(last.status, 412, last.text);
    assert.equal((await remove("/v1/url-groups/mentioned")).status, 200);
    assert.equal(
      (await remove("/v2/topics/endpoints/endpoints", { endpoints: [{ name: "one" }] })).status,
      200,
    );

    await api.server.database.rows("delete from schedules where team_id = $1 and id = $2", [
      api.team.id,
      LAST_ID,
    ]);
    assert.equal((await remove("/v2/topics/used")).status, 200);
  });
});
