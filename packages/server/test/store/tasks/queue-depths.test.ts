import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { QUEUE_DEFAULTS } from "../../../src/domain/queue.ts";
import { readQueueDepths } from "../../../src/store/tasks/queue-depths.ts";
import { insertQueue, markQueueDeleted } from "../../../src/store/tasks/queues.ts";
import { openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

describe("the depths of the queues", () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  async function open(name: string, teamId: number): Promise<StoredQueue> {
    const queue = await insertQueue(store.database, teamId, name, QUEUE_DEFAULTS);
    return { teamId, id: queue?.id ?? 0, name };
  }
  const read = async (mostNames = 100) => {
    const depths = await readQueueDepths(store.database, mostNames);
    return new Map(depths.map(({ queue, ...depth }) => [queue, depth]));
  };
  const age = (seconds: number) =>
    store.database.rows(
      "update tasks set run_at = run_at - make_interval(secs => $1), due_at = due_at - make_interval(secs => $1)",
      [seconds],
    );

  it("are 0 for a queue that never had a task", async () => {
    await open("quiet", await store.openTeam());
    assert.deepEqual(
      await read(),
      new Map([["quiet", { pending: 0, active: 0, waiting: 0, polling: 0, oldestPendingSeconds: 0 }]]),
    );
  });

  it("are summed over all teams that have a queue of the same name", async () => {
    const ours = await open("mails", await store.openTeam());
    const theirs = await open("mails", await store.openTeam());
    await store.insert(ours, {}, {});
    await store.insert(theirs, {}, { delaySeconds: 60 });
    await store.claim(theirs, { workerId: await store.openWorker() });

    const mails = (await read()).get("mails");
    assert.deepEqual([mails?.pending, mails?.active], [3, 1]);
  });

  it("include how long the oldest task of any priority and team has been due", async () => {
    const team = await store.openTeam();
    const ours = await open("mails", team);
    const theirs = await open("mails", await store.openTeam());
    const calm = await open("calm", team);
    await store.insert(ours, { priority: 9 });
    await age(100);
    await store.insert(theirs, { priority: 2 });
    await age(30);
    await store.insert(calm, { delaySeconds: 600 });

    const depths = await read();
    const seconds = depths.get("mails")?.oldestPendingSeconds ?? 0;
    assert.ok(seconds >= 130 && seconds < 190, String(seconds));
    assert.equal(depths.get("calm")?.oldestPendingSeconds, 0, "it is not due yet");
  });

  it("do not count a sandbox task as overdue", async () => {
    await store.insert(await open("mails", await store.openTeam()), { sandbox: true });
    await age(100);
    assert.equal((await read()).get("mails")?.oldestPendingSeconds, 0);
  });

  it("list the oldest queue names, and sum up all others", async () => {
    const team = await store.openTeam();
    for (const name of ["zebra", "ant", "bee", "cat"]) {
      await store.insert(await open(name, team), {}, {});
      await age(10);
    }
    const depths = await read(2);
    assert.deepEqual([...depths.keys()].sort(), ["ant", null, "zebra"].sort());
    assert.equal(depths.get(null)?.pending, 4);
    assert.ok((depths.get(null)?.oldestPendingSeconds ?? 0) >= 20, "of bee");

    await markQueueDeleted(store.database, team, "zebra");
    assert.deepEqual([...(await read(2)).keys()].sort(), ["ant", "bee", null].sort());
  });
});
