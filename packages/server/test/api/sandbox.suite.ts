import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";
import type { Credential, TestTeam } from "./test-team.ts";

const NO_RETRY = [{ max_retries: 0 }, { maxRetries: 0 }];

describe("the sandbox", () => {
  let api: TestApi;
  let team: TestTeam;
  let test: Credential;
  let live: string;
  let sandboxed: string[];

  before(async () => {
    api = await createTestApi();
    team = await api.openTeam();
    test = await team.newKey("test");
    const create = async (headers: Credential) =>
      (await api.call("POST", "/v1/tasks", { queue: "default", webhook_url: "http://a/" }, headers)).body.id;
    sandboxed = [await create(test), await create(test)];
    live = await create(team.headers);
    sandboxed.push(await create(test));
  });

  const list = async (query: string, headers: Credential) => {
    const { status, body } = await api.call("GET", `/v1/tasks${query}`, undefined, headers);
    assert.equal(status, 200, JSON.stringify(body));
    return { ids: body.tasks.map(({ id }: { id: string }) => id).reverse(), total: body.pagination.total };
  };
  const pending = async (headers: Credential) => {
    const one = await api.call("GET", "/v1/queues/default", undefined, headers);
    const all = await api.call("GET", "/v1/queues", undefined, headers);
    assert.deepEqual(all.body.queues[0].stats, one.body.stats);
    return one.body.stats.pending;
  };

  it("is listed apart from live tasks: to test keys, and to others with sandbox=true", async () => {
    const { headers: session } = await team.signIn("ada", "viewer");
    for (const filter of ["", "queue=default", "status=pending", "queue=default&status=pending"]) {
      assert.deepEqual(await list(`?${filter}`, test), { ids: sandboxed, total: 3 }, filter);
      assert.deepEqual(await list(`?sandbox=true&${filter}`, test), { ids: sandboxed, total: 3 }, filter);
      for (const headers of [team.headers, session]) {
        assert.deepEqual(await list(`?${filter}`, headers), { ids: [live], total: 1 }, filter);
        assert.deepEqual(await list(`?sandbox=false&${filter}`, headers), { ids: [live], total: 1 }, filter);
        assert.deepEqual(
          await list(`?sandbox=true&${filter}`, headers),
          { ids: sandboxed, total: 3 },
          filter,
        );
      }
    }
  });

  it("is paged apart from live tasks, by offset and by cursor", async () => {
    const { body } = await api.call("GET", "/v1/tasks?limit=2", undefined, test);
    const { nextCursor, ...pagination } = body.pagination;
    assert.deepEqual(pagination, { total: 3, limit: 2, offset: 0, hasMore: true });
    assert.deepEqual((await list(`?limit=2&cursor=${nextCursor}`, test)).ids, [sandboxed[0]]);
    assert.deepEqual((await list("?limit=2&offset=2", test)).ids, [sandboxed[0]]);
    assert.equal(
      (await api.call("GET", "/v1/tasks?limit=1", undefined, team.headers)).body.pagination.hasMore,
      false,
    );
  });

  it("refuses sandbox=false from a test key, and invalid values from any caller", async () => {
    const asked = await api.call("GET", "/v1/tasks?sandbox=false", undefined, test);
    assert.equal(asked.status, 400);
    assert.equal(asked.body.error, "sandbox must be true with a test key: it sees no other tasks");
    assert.equal((await api.call("GET", "/v1/tasks?sandbox=1", undefined, team.headers)).status, 400);
  });

  it("has its own counts in a queue's stats", async () => {
    const { body } = await api.call("GET", "/v1/queues?sandbox=true", undefined, team.headers);
    assert.equal(body.queues[0].stats.pending, 3);
    assert.equal((await api.call("GET", "/v1/queues?sandbox=false", undefined, test)).status, 400);
    assert.equal(await pending(team.headers), 1);
    assert.equal(await pending(test), 3);
  });

  it("answers 404 to a test key for a live task", async () => {
    const unknown = "task_01k9z3mxe5f8hrk3yv5pzq8c2d";
    for (const method of ["GET", "DELETE"] as const) {
      const answer = await api.call(method, `/v1/tasks/${live}`, undefined, test);
      assert.equal(answer.status, 404);
      assert.deepEqual(answer.body, (await api.call(method, `/v1/tasks/${unknown}`, undefined, test)).body);
    }
    assert.equal((await api.call("GET", `/v1/tasks/${live}`, undefined, team.headers)).status, 200);
  });

  it("refuses changes of the team or of an existing queue by a test key", async () => {
    for (const [method, path, body] of [
      ["PATCH", "/v1/queues/default", { concurrency: 1 }],
      ["POST", "/v1/queues/default/pause", undefined],
      ["POST", "/v1/queues/default/resume", undefined],
      ["DELETE", "/v1/queues/default", undefined],
      ["POST", "/v1/apikeys", { name: "x" }],
      ["POST", "/v1/team/invitations", { email: "a@example.test" }],
    ] as const) {
      const answer = await api.call(method, path, body, test);
      assert.equal(answer.status, 403, path);
      assert.deepEqual(answer.body, { error: "Not available to test keys", code: "test_key_refused" });
    }
  });

  it("lets a test key create a queue, which live keys can use", async () => {
    const created = await api.call("POST", "/v1/queues", { name: "from-a-test", concurrency: 2 }, test);
    assert.deepEqual([created.status, created.body.name, created.body.concurrency], [201, "from-a-test", 2]);
    const again = await api.call("POST", "/v1/queues", { name: "from-a-test" }, team.headers);
    assert.equal(again.status, 409);
    const task = { queue: "from-a-test", webhook_url: "http://a/", delay: 60 };
    assert.equal((await api.call("POST", "/v1/tasks", task, team.headers)).status, 201);
    await api.call("DELETE", "/v1/queues/from-a-test", undefined, team.headers);
  });

  it("counts only tasks of the caller's environment when a queue is deleted", async () => {
    await api.call("POST", "/v1/queues", { name: "doomed" }, team.headers);
    for (const headers of [test, test, team.headers])
      await api.call("POST", "/v1/tasks", { queue: "doomed", webhook_url: "http://a/", delay: 60 }, headers);
    const { body } = await api.call("DELETE", "/v1/queues/doomed", undefined, team.headers);
    assert.equal(body.tasks_deleted, 1);
    assert.deepEqual(await list("?queue=doomed", test), { ids: [], total: 0 });
  });

  it("lets a live key read and delete a sandbox task by its id", async () => {
    const [id] = sandboxed;
    const { status, body } = await api.call("GET", `/v1/tasks/${id}`, undefined, team.headers);
    assert.equal(status, 200);
    assert.equal(body.sandbox, true);
    assert.equal((await api.call("DELETE", `/v1/tasks/${id}`, undefined, team.headers)).status, 200);
    assert.deepEqual(await list("", test), { ids: sandboxed.slice(1), total: 2 });
    assert.equal(await pending(test), 2);
  });

  const made = async (body: object, headers: Credential) => {
    const answer = await api.call("POST", "/v1/tasks", body, headers);
    return { status: answer.status, error: answer.body.error, id: (answer.body.task ?? answer.body).id };
  };
  const queueTask = (simulate: object) => ({ queue: "default", webhook_url: "http://a/", simulate });
  const directTask = (simulate: object) => ({ targetUrl: "http://a/", simulate });

  it("simulates a task in either shape when its clock advances", async () => {
    const tasks = [
      queueTask({
        outcome: "complete",
        after: 3600,
        response_code: 201,
        body: { fine: [1] },
        attempts: null,
      }),
      directTask({ outcome: "fail", responseCode: 410, body: "gone", attempts: 1 }),
    ];
    const ids: string[] = [];
    for (const body of tasks) ids.push((await made({ ...body, ...NO_RETRY[ids.length] }, test)).id);
    const advanced = await api.call("POST", "/v1/sandbox/advance", { seconds: 3600 }, test);
    const { now } = advanced.body.sandbox;
    assert.deepEqual(advanced.body, { advanced: 3600, stopped: null, sandbox: { now, ahead_seconds: 3600 } });
    assertNow(now, 3600);
    const read = await api.call("GET", "/v1/sandbox", undefined, test);
    assert.equal(read.body.sandbox.ahead_seconds, 3600);
    assertNow(read.body.sandbox.now, 3600);

    const [completed, failed] = await Promise.all(
      ids.map(async (id) => (await api.call("GET", `/v1/tasks/${id}`, undefined, test)).body),
    );
    assert.equal(completed.status, "completed");
    assert.equal(completed.attempts[0].response_code, 201);
    assert.equal(completed.result.body, '{"fine":[1]}');
    assert.equal(failed.task.status, "failed");
    assert.equal(failed.task.attempts[0].responseCode, 410);
  });

  it("refuses a simulation that is contradictory, unknown or from a live key", async () => {
    const refuse = async (body: object, error: string, headers = test) => {
      const answer = await made(body, headers);
      assert.deepEqual([answer.status, answer.error], [400, error]);
    };
    const live = "simulate is for test keys: a task of a live key is called";
    await refuse(queueTask({ outcome: "complete" }), live, team.headers);
    await refuse(
      queueTask({ outcome: "complete", response_code: 500 }),
      'simulate["response_code"] must be 200 to 299 with outcome "complete"',
    );
    await refuse(
      directTask({ outcome: "fail", responseCode: 204 }),
      'simulate["responseCode"] must be another code than 200 to 299 with outcome "fail"',
    );
    await refuse(
      directTask({ outcome: "timeout", responseCode: 504 }),
      'simulate["responseCode"] must be left out with outcome "timeout"',
    );
    await refuse(
      directTask({ outcome: "fail", response_code: 500 }),
      'Unknown field "response_code" (did you mean "responseCode"?)',
    );
    const scheduled = { name: "walks", cron: "0 0 1 1 *", task: queueTask({ outcome: "complete" }) };
    const schedule = await api.call("POST", "/v1/schedules", scheduled, team.headers);
    assert.deepEqual([schedule.status, schedule.body.error], [400, live]);

    const advance = await api.call("POST", "/v1/sandbox/advance", { seconds: 1 }, team.headers);
    assert.deepEqual(
      [advance.status, advance.body],
      [403, { error: "Only available to test keys", code: "live_refused" }],
    );
  });
});
