import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { type Answer, createTestApi, type TestApi } from "./test-api.ts";

const URL = "http://localhost/target";
const LIMIT = 6_000;

describe("a team at its limit of stored bytes", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  type Call = (method: "POST" | "PUT" | "DELETE", url: string, body?: unknown) => Promise<Answer>;

  async function openTeam(): Promise<Call> {
    const { id, headers } = await api.openTeam();
    await api.server.database.rows("update teams set plan = 'free', limits = $2::jsonb where id = $1", [
      id,
      JSON.stringify({ bytesStored: LIMIT }),
    ]);
    return (method, url, body) => api.call(method, url, body, headers);
  }

  const task = (fields: object = {}) => ({ queue: "default", webhook_url: URL, delay: 3600, ...fields });

  it("may store nothing more, and remove what it has", async () => {
    const call = await openTeam();
    assert.equal((await call("PUT", "/v1/url-groups/early", { endpoints: [{ url: URL }] })).status, 201);
    const full = await call("POST", "/v1/tasks", task({ payload: { text: "x".repeat(LIMIT) } }));
    assert.equal(full.status, 201);
    await call("POST", `/v1/tasks/${full.body.id}/cancel`);

    const schedule = { cron: "0 3 * * *", task: task() };
    for (const [method, url, body] of [
      ["POST", "/v1/tasks", task()],
      ["POST", "/v1/tasks", task({ dedupe: { key: "k", mode: "first", window: 60 } })],
      ["POST", `/v2/publish/${URL}`, "text"],
      ["PUT", "/v1/url-groups/early", { endpoints: [{ url: `${URL}/other` }] }],
      ["PUT", "/v1/url-groups/late", { endpoints: [{ url: URL }] }],
      ["POST", "/v1/schedules", { name: "nightly", ...schedule }],
      ["PUT", "/v1/schedules/nightly", schedule],
      ["POST", `/v1/tasks/${full.body.id}/retry`, { payload: { another: "body" } }],
    ] as const) {
      const { status, body: refusal } = await call(method, url, body);
      assert.deepEqual(
        [url, status, refusal.code, refusal.error],
        [
          url,
          url.startsWith("/v2") ? 412 : 403,
          "limit_reached",
          `The plan free allows at most ${LIMIT} bytes stored (bytesStored)`,
        ],
      );
    }

    assert.equal((await call("DELETE", "/v1/url-groups/early")).status, 200);
    assert.equal((await call("POST", `/v1/tasks/${full.body.id}/retry`)).status, 200);
    assert.equal((await call("DELETE", `/v1/tasks/${full.body.id}`)).status, 200);
  });

  for (const [what, fields] of Object.entries({
    "its URL": { webhook_url: `${URL}/${"u".repeat(LIMIT)}` },
    "the URLs of its notifications": {
      on_complete_url: `${URL}/${"c".repeat(LIMIT / 2)}`,
      on_failure_url: `${URL}/${"f".repeat(LIMIT / 2)}`,
    },
    "its headers": {
      headers: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`X-${index}`, "h".repeat(100)])),
    },
  }))
    it(`counts a task with ${what} before the database measures it`, async () => {
      const call = await openTeam();
      assert.equal((await call("POST", "/v1/tasks", task(fields))).status, 201);
      assert.equal((await call("POST", "/v1/tasks", task())).status, 403);
    });
});
