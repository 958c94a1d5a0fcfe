import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Problem } from "../../src/domain/problem.ts";
import { createTaskWaits } from "../../src/service/tasks/task-waits.ts";
import { openTestServer, type TestServer } from "../test-server.ts";
import { createTestTime } from "../test-time.ts";

const LONG = 60;

describe("waiting for a task to end", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer();
  });
  after(() => server.close());
  afterEach(() => server.target.release());

  const wait = (seconds = LONG, over = new AbortController().signal) => ({ seconds, over });

  it("ends as soon as the call is settled on this node", async () => {
    server.target.hold();
    const calls = server.target.calls.length;
    const id = await server.submit();
    const waited = server.services.waiting.get(server.principal, id, wait());
    await server.look();
    await server.target.received(calls + 1);
    server.target.release();

    assert.equal((await waited).status, "completed");
  });

  it("ends when another node ends the task", async () => {
    const node = await server.openNode();
    const id = await server.submit({ delaySeconds: 600 });
    const waited = server.services.waiting.get(server.principal, id, wait());

    await node.tasks.cancel(server.principal, id);

    assert.equal((await waited).status, "cancelled");
    await node.stop();
  });

  it("ends at once for an ended task, and when the task is deleted meanwhile", async () => {
    const ended = await server.submit({ delaySeconds: 600 });
    await server.tasks.cancel(server.principal, ended);
    assert.equal((await server.services.waiting.get(server.principal, ended, wait())).status, "cancelled");

    const deleted = await server.submit({ delaySeconds: 600 });
    const waited = server.services.waiting.get(server.principal, deleted, wait());
    await server.tasks.remove(server.principal, deleted);
    await assert.rejects(waited, new Problem("task_not_found"));
  });

  it("is refused at once for another team's task", async () => {
    const id = await server.submit({ delaySeconds: 600 });
    const other = await server.openTeam();
    await assert.rejects(server.services.waiting.get(other, id, wait()), new Problem("task_not_found"));
  });

  it("queries all awaited tasks in one statement, and nothing without waiters", async () => {
    const time = createTestTime();
    const asked: string[] = [];
    let answer = Promise.resolve<{ id: string }[]>([]);
    const waits = createTaskWaits({
      time,
      sql: {
        rows: (_query, values) => {
          asked.push(String(values?.[0]));
          return answer as Promise<never[]>;
        },
      },
    });
    const turn = () => new Promise(setImmediate);
    const gone = new AbortController();
    const first = waits.hold(1, (untilEnded) => untilEnded({ teamId: 1, id: "a" }, 2, gone.signal));
    const second = waits.hold(1, (untilEnded) => untilEnded({ teamId: 1, id: "b" }, 60, gone.signal));
    await turn();
    asked.length = 0;

    time.pass(500);
    await turn();
    assert.deepEqual(asked, ['[{"team_id":1,"id":"a"},{"team_id":1,"id":"b"}]']);
    answer = Promise.reject(new Problem("database_away"));
    answer.catch(() => {});
    time.pass(500);
    await turn();
    answer = Promise.resolve([]);
    time.pass(1_000);
    await first;
    gone.abort();
    await second;
    await turn();
    asked.length = 0;
    time.pass(60_000);
    waits.ended({ id: "a" });
    await turn();
    assert.deepEqual(asked, []);
  });

  it("is refused to a team that already waits 1,000 times on the node", async () => {
    const waits = createTaskWaits({ time: createTestTime(), sql: { rows: async () => [] } });
    const gone = new AbortController();
    const held = Array.from({ length: 1_000 }, () =>
      waits.hold(1, (untilEnded) => untilEnded({ teamId: 1, id: "a" }, 60, gone.signal)),
    );
    const hold = (teamId: number) => waits.hold(teamId, async () => "held");

    await assert.rejects(hold(1), { code: "too_many_waiting" });
    assert.equal(await hold(2), "held");
    gone.abort();
    await Promise.all(held);
    assert.equal(await hold(1), "held");
  });
});
