import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { parseTaskId } from "../../src/domain/task-id.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("the filters of GET /v1/tasks", () => {
  let api: TestApi;
  let failed: string;
  let tagged: string;
  let plain: string;
  let direct: string;
  before(async () => {
    api = await createTestApi();
    const { target } = api.server;
    const { answer } = target;
    target.answer = (_request, response) => response.writeHead(503).end();
    failed = (await api.run({ max_retries: 0 })).body.id;
    target.answer = answer;
    const create = async (fields: object) => (await api.call("POST", "/v1/tasks", fields)).body;
    const task = { queue: "default", webhook_url: "https://Hooks.test:8443/a", delay: 60 };
    tagged = (await create({ ...task, tags: ["order-1", "a,b"], metadata: { order: "4711", "a.b": "=1" } }))
      .id;
    plain = (await create(task)).id;
    direct = (await create({ targetUrl: "https://api.test/v1", delay: 60, queue: "default" })).task.id;
  });

  const list = (query: string) => api.call("GET", `/v1/tasks?${query}`);
  const idsOf = async (query: string) => (await list(query)).body.tasks.map(({ id }: { id: string }) => id);

  it("match an entry of the metadata named __proto__ by its value, in a list and in bulk", async () => {
    const own = await api.openTeam();
    const ask = async (method: "GET" | "POST", url: string, payload?: string) => {
      const headers = { ...own.headers, "content-type": "application/json" };
      const answer = await api.send({ method, url, headers, ...(payload !== undefined && { payload }) });
      return { status: answer.status, body: answer.body };
    };
    const task = (metadata: string) =>
      `{"queue":"default","webhook_url":"http://a.test/","delay":60,"metadata":${metadata}}`;
    const made = await ask("POST", "/v1/tasks", task('{"__proto__":"4711"}'));
    await ask("POST", "/v1/tasks", task('{"order":"4711"}'));
    assert.equal(made.status, 201);

    for (const [query, expected] of [
      ["metadata=__proto__%3D4711", [made.body.id]],
      ["metadata.__proto__=4711", [made.body.id]],
      ["metadata.__proto__=other", []],
      ["metadata.__proto__=4711&metadata.order=4711", []],
    ] as const) {
      const { status, body } = await ask("GET", `/v1/tasks?${query}`);
      assert.equal(status, 200, query);
      assert.deepEqual(
        body.tasks.map(({ id }: { id: string }) => id),
        expected,
        query,
      );
    }
    for (const [filter, matched] of [
      ['{"metadata":"__proto__=other"}', 0],
      ['{"metadata":{"__proto__":"other"}}', 0],
      ['{"metadata.__proto__":"other"}', 0],
      ['{"metadata":"__proto__=other","metadata.order":"4711"}', 0],
      ['{"metadata":"__proto__=4711"}', 1],
      ['{"metadata":{"__proto__":"4711"}}', 1],
      ['{"metadata.__proto__":"4711"}', 1],
    ] as const) {
      const body = `{"action":"delete","dry_run":true,"filter":${filter}}`;
      assert.deepEqual(await ask("POST", "/v1/tasks/bulk", body), { status: 200, body: { matched } }, filter);
    }
  });

  it("match tasks, alone and combined, in either order", async () => {
    const { body } = await api.call("GET", `/v1/tasks/${tagged}`);
    const at = encodeURIComponent(body.created_at);
    const afterwards = encodeURIComponent(new Date(Date.parse(body.created_at) + 3600_000).toISOString());
    for (const [query, expected] of [
      ["status=failed,completed", [failed]],
      ["status=pending,failed&order=asc", [failed, tagged, plain, direct]],
      ["tag=order-1", [tagged]],
      ["tag=a%2Cb&status=pending", [tagged]],
      ["tag=order-1&status=failed", []],
      ["tag=order-1&tag=a%2Cb", [tagged]],
      ["tag=order-1&tag=other", []],
      ["metadata.order=4711", [tagged]],
      ["metadata.order=4711&metadata.a.b=%3D1&tag=order-1", [tagged]],
      ["metadata.order=4711&metadata.a.b=2", []],
      ["metadata=order%3D4711", [tagged]],
      ["dismissed=true", []],
      ["dismissed=false&status=failed", [failed]],
      ["host=hooks.test", [plain, tagged]],
      ["host=HOOKS.test&order=asc", [tagged, plain]],
      ["host=api.test", [direct]],
      ["failure_reason=retries_exhausted", [failed]],
      ["response_code=503", [failed]],
      ["response_code=5xx&queue=runs", [failed]],
      ["response_code=5xx&queue=default", []],
      ["response_code=2xx", []],
      ["response_code=timeout", []],
      ["provider=replicate", []],
      [`id=${failed}`, [failed]],
      [`id=${parseTaskId(tagged)}&status=pending`, [tagged]],
      [`id=${tagged}&status=failed`, []],
      [`created_before=${at}&status=failed`, [failed]],
      [`created_after=${at}&order=asc`, [tagged, plain, direct]],
      [`created_after=${at}&created_before=${afterwards}&host=hooks.test`, [plain, tagged]],
      [`created_after=${afterwards}`, []],
    ] as const) {
      const { status, body: page } = await list(query);
      assert.equal(status, 200, query);
      assert.deepEqual(
        page.tasks.map(({ id }: { id: string }) => id),
        expected,
        query,
      );
      const { total, totalIsCapped, hasMore, nextCursor } = page.pagination;
      assert.deepEqual(
        [total, totalIsCapped, hasMore, nextCursor],
        [expected.length, undefined, false, null],
        query,
      );
    }
  });

  it("apply to the next page of a cursor, in either order", async () => {
    for (const [order, expected] of [
      ["desc", [plain, tagged]],
      ["asc", [tagged, plain]],
    ] as const) {
      const { body } = await list(`host=hooks.test&limit=1&order=${order}`);
      assert.deepEqual([body.tasks[0].id, body.pagination.hasMore], [expected[0], true]);
      assert.deepEqual(
        await idsOf(`host=hooks.test&order=${order}&cursor=${body.pagination.nextCursor}`),
        expected.slice(1),
      );
    }
  });

  it("are refused with the rule that they break", async () => {
    const at = (name: string) =>
      `${name} must be an ISO 8601 time with a time zone, such as 2026-03-01T09:30:00Z`;
    const code = "response_code must be a status code, a class of them such as 5xx, timeout or network";
    const host = "host must be the name or address of a host, without a port";
    for (const [query, error] of [
      ["created_after=yesterday", at("created_after")],
      ["created_before=2026-03-01", at("created_before")],
      ["response_code=600", code],
      ["response_code=5x", code],
      ["host=a.test%3A80", host],
      ["host=http%3A%2F%2Fa.test", host],
      ["id=abc", "id must be the id of a task"],
      ["tag=", "tag must be a string of 1 to 64 characters or an array of 1 to 10 strings"],
      ["tag=%00", "tag must be text without NUL characters or lone surrogates"],
      ["order=down", 'order must be one of "desc", "asc"'],
      [
        "host=a.test&offset=5",
        "offset must be 0 where tasks are searched: use cursor to go on to the next page",
      ],
      ["hosts=a.test", 'Unknown field "hosts" (did you mean "host"?)'],
    ] as const) {
      const { status, body } = await list(query);
      assert.deepEqual([status, body.error], [400, error], query);
    }
    assert.match((await list("failure_reason=bad")).body.error, /^failure_reason must be one of "retries/);
  });
});
