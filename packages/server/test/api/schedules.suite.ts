import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const TASK = { queue: "default", webhook_url: "https://target.example/hook" };
const TERMS = { cron: "30 9 * * mon-fri", task: TASK };

/** No schedule has made it. */
const TASK_ALONE = { queue: "default", webhook_url: "http://127.0.0.1:9/", delay: 3600 };

describe("/v1/schedules", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  const refused = async (body: object, error: string | RegExp, status = 400) => {
    const answer = await api.call("POST", "/v1/schedules", { name: "refused", ...TERMS, ...body });
    assert.equal(answer.status, status, answer.text);
    if (typeof error === "string") assert.equal(answer.body.error, error);
    else assert.match(answer.body.error, error);
  };

  it("creates a schedule and shows its task as it was written", async () => {
    const text = `{"name":"daily","cron":"0 9 * * *","timezone":"Europe/Berlin","task": {"queue":"default", "webhook_url":"https://t.example/","payload":{"n":1.0}}}`;
    const { status, body, text: answer } = await api.call("POST", "/v1/schedules", text);
    assert.equal(status, 201, answer);
    const { id, next_runs, created_at, updated_at, task, ...rest } = body.schedule;
    assert.match(id, /^sch_[0-9a-z]{26}$/);
    assert.ok(
      answer.includes(`"task":{"queue":"default", "webhook_url":"https://t.example/","payload":{"n":1.0}}`),
    );
    assert.equal(next_runs.length, 5);
    assert.deepEqual(next_runs, [...next_runs].sort());
    assert.equal(task.queue, "default");
    assert.equal(created_at, updated_at);
    assert.deepEqual(rest, {
      name: "daily",
      cron: "0 9 * * *",
      timezone: "Europe/Berlin",
      overlap: "allow",
      catch_up: "one",
      paused: false,
      last_task: null,
      last_error: null,
    });
    for (const key of [id, "daily"])
      assert.equal((await api.call("GET", `/v1/schedules/${key}`)).body.schedule.id, id);
    const { schedules } = (await api.call("GET", "/v1/schedules")).body;
    assert.deepEqual(
      schedules.map(({ name }: { name: string }) => name),
      ["daily"],
    );
    assert.equal("task" in schedules[0], false);
    assert.equal(
      (await api.call("POST", "/v1/schedules", text)).body.error,
      'Schedule "daily" already exists',
    );
  });

  it("refuses an invalid schedule or task, with the reason", async () => {
    await refused({ cron: "0 25 * * *" }, /^cron has an invalid hour "25"/);
    await refused({ cron: "0 0 30 2 *" }, "cron never fires: no such day is in any of its months");
    await refused({ timezone: "Mars/Olympus" }, "timezone must be an IANA time zone, such as Europe/Berlin");
    await refused({ task: { queue: "default" } }, "task: webhook_url is required");
    await refused(
      { task: { ...TASK, webhook_url: "http://private.example/" } },
      /^task: webhook_url must not point/,
    );
    await refused(
      { task: { ...TASK, run_at: "2030-01-01T00:00:00Z" } },
      "task: run_at cannot be given in a schedule",
    );
    await refused(
      { task: { ...TASK, idempotency_key: "k" } },
      "task: idempotency_key cannot be given in a schedule",
    );
    await refused({ task: 5 }, /task/);
    await refused({ task: { ...TASK, queue: "nowhere" } }, 'Queue "nowhere" not found', 404);
    await refused({ name: "sch_1" }, /name/);
    await refused({ crom: "* * * * *" }, /crom/);
    assert.equal((await api.call("GET", "/v1/schedules/refused")).status, 404);
  });

  it("creates by PUT, then replaces under the same id, with defaults for fields left out", async () => {
    const first = await api.call("PUT", "/v1/schedules/put", { ...TERMS, overlap: "skip", paused: true });
    assert.equal(first.status, 201, first.text);
    assert.deepEqual(first.body.schedule.next_runs, []);
    const second = await api.call("PUT", "/v1/schedules/put", { cron: "0 0 * * *", task: TASK });
    assert.equal(second.status, 200);
    const { id, overlap, paused, cron } = second.body.schedule;
    assert.deepEqual([id, overlap, paused, cron], [first.body.schedule.id, "allow", false, "0 0 * * *"]);
    assert.equal((await api.call("PUT", "/v1/schedules/put_it", TERMS)).status, 404);
  });

  it("updates, pauses, resumes, runs and deletes a schedule, each with an audit event", async () => {
    const { id } = (await api.call("POST", "/v1/schedules", { name: "changing", ...TERMS })).body.schedule;
    const patched = await api.call("PATCH", "/v1/schedules/changing", { catch_up: "none", timezone: null });
    assert.deepEqual([patched.body.schedule.catch_up, patched.body.schedule.cron], ["none", TERMS.cron]);
    assert.equal((await api.call("POST", `/v1/schedules/${id}/pause`)).body.schedule.paused, true);

    const run = await api.call("POST", "/v1/schedules/changing/run");
    assert.equal(run.status, 201);
    const task = await api.call("GET", `/v1/tasks/${run.body.id}`);
    assert.equal(task.body.schedule, id);
    const { last_task } = (await api.call("GET", "/v1/schedules/changing")).body.schedule;
    assert.deepEqual([last_task.id, last_task.status], [run.body.id, "pending"]);

    assert.equal((await api.call("POST", `/v1/tasks`, TASK_ALONE)).status, 201);
    const listed = await api.call("GET", `/v1/tasks?schedule=${id}&status=pending`);
    assert.deepEqual(
      listed.body.tasks.map((each: { id: string }) => each.id),
      [run.body.id],
    );
    const named = await api.call("GET", "/v1/tasks?schedule=changing");
    assert.deepEqual([named.status, named.body.error], [400, "schedule must be the id of a schedule, sch_…"]);

    assert.equal((await api.call("POST", `/v1/schedules/${id}/resume`)).body.schedule.next_runs.length, 5);
    const gone = await api.call("DELETE", `/v1/schedules/${id}`);
    assert.deepEqual(gone.body, { id, name: "changing", deleted: true });
    assert.equal((await api.call("DELETE", `/v1/schedules/${id}`)).body.error, `Schedule "${id}" not found`);
    assert.equal((await api.call("GET", `/v1/tasks/${run.body.id}`)).status, 200);

    const { events } = (await api.call("GET", "/v1/audit?limit=6")).body;
    assert.deepEqual(
      events.map(({ action, target }: { action: string; target: string }) => [action, target]),
      ["deleted", "resumed", "run", "paused", "updated", "created"].map((verb) => [`schedule.${verb}`, id]),
    );
  });
});
