import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type NewTask, NO_FOLLOW_UP } from "../../../src/domain/task.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import { NO_WORKER } from "../../../src/store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../../../src/store/tasks/task-intake.ts";
import { type WatchedDatabase, watchDatabase } from "../../test-sql.ts";
import { countBothWays, newTask, openTestStore, type StoredQueue, type TestStore } from "../../test-store.ts";

const PLAIN = "insert_tasks_plain";
const PLAIN_ALIKE = "insert_tasks_plain_alike";
const MESSAGES = ["insert_messages_plain_alike", "insert_messages_plain"] as const;
const POLLED = {
  urlTemplate: "http://localhost/job",
  interval: 5,
  maxDuration: 600,
  forwardAuth: false,
  statusPath: "status",
  doneValues: ["done"],
  failValues: [],
  resultPath: "",
};

const timeless = (accepted: Accepted | null | undefined) => ({ ...accepted, createdAt: null, runAt: null });

describe("a batch of plain tasks", () => {
  let store: TestStore;
  let sql: WatchedDatabase;
  let queue: StoredQueue;
  let workerId: number;
  before(async () => {
    store = await openTestStore();
    sql = watchDatabase(store.database);
    queue = await store.openQueue({ maxRetries: 7, retryMaxDelaySeconds: 60, noRetryStatuses: [410] });
    workerId = await store.openWorker();
  });
  after(() => store.close());

  const slot = (epoch = 1) => ({ queueId: queue.id, epoch });
  const sent = () => sql.sent.splice(0);

  /** With the times relative to the creation. */
  async function stored(id: string): Promise<object | undefined> {
    const times = ["run_at", "due_at", "started_at", "attempt_started_at", "deadline_at", "completed_at"];
    const [row] = await store.database.rows<{ task: object }>(
      `select to_jsonb(t) - 'id' - 'created_at' - '{${times.join()}}'::text[]
              || jsonb_build_object(${times.map((time) => `'${time}', ${time} - created_at`).join()}) as task
         from tasks t where id = $1`,
      [id],
    );
    return row?.task;
  }

  /** Something else than usual in each field, and whether a plain task may have it. */
  const unlike: Record<keyof NewTask, { task: Partial<NewTask>; isPlain: boolean } | null> = {
    teamId: null,
    id: null,
    queue: null,
    shape: { task: { shape: "direct" }, isPlain: true },
    call: {
      task: { call: { method: "PUT", url: "http://localhost/x", headers: { a: "b" }, body: null } },
      isPlain: true,
    },
    priority: { task: { priority: 9 }, isPlain: true },
    bodyIsJson: { task: { bodyIsJson: true }, isPlain: true },
    sign: { task: { sign: true }, isPlain: true },
    message: { task: { message: { topic: "orders", base64: true } }, isPlain: true },
    onCompleteUrl: { task: { onCompleteUrl: "http://localhost/done" }, isPlain: true },
    dedupe: {
      task: {
        dedupe: { key: "k", mode: "first", windowSeconds: 9, maxWaitSeconds: null, callbackSealed: null },
      },
      isPlain: false,
    },
    onFailureUrl: { task: { onFailureUrl: "http://localhost/failed" }, isPlain: false },
    delaySeconds: { task: { delaySeconds: 5 }, isPlain: false },
    runAt: { task: { runAt: new Date(Date.now() + 60_000) }, isPlain: false },
    simulate: {
      task: {
        sandbox: true,
        simulate: { outcome: "complete", afterSeconds: 0, responseCode: null, body: "", attempts: 1 },
      },
      isPlain: false,
    },
    maxRetries: { task: { maxRetries: 1 }, isPlain: false },
    backoff: { task: { backoff: "fixed" }, isPlain: false },
    retryDelaySeconds: { task: { retryDelaySeconds: 9 }, isPlain: false },
    retryMaxDelaySeconds: { task: { retryMaxDelaySeconds: 99 }, isPlain: false },
    noRetryStatuses: { task: { noRetryStatuses: [404] }, isPlain: false },
    expiresInSeconds: { task: { expiresInSeconds: 60 }, isPlain: false },
    timeoutSeconds: { task: { timeoutSeconds: 11 }, isPlain: false },
    follow: { task: { follow: { ...NO_FOLLOW_UP, pollConfig: POLLED } }, isPlain: false },
    tags: { task: { tags: ["a"] }, isPlain: false },
    metadata: { task: { metadata: { a: "b" } }, isPlain: false },
    flow: {
      task: { flow: { key: "a", concurrency: 1, rate: null, period: null, ordered: null } },
      isPlain: false,
    },
    callback: { task: { callback: { hash: "ab", sealed: "cd" } }, isPlain: false },
    idempotency: {
      task: { idempotency: { key: "key", requestHash: "ab", callbackSealed: "cd" } },
      isPlain: false,
    },
    sandbox: { task: { sandbox: true }, isPlain: false },
  };

  for (const [field, each] of Object.entries({ "nothing special": { task: {}, isPlain: true }, ...unlike })) {
    if (each === null) continue;
    it(`${each.isPlain ? "may contain" : "may not contain"} a task that sets ${field}`, async () => {
      const task = () => ({ ...newTask(queue), ...each.task });
      const [alike, mixed] = field === "message" ? MESSAGES : [PLAIN_ALIKE, PLAIN];
      for (const reservation of [null, ...(each.isPlain ? [slot()] : [])]) {
        sent();
        const plain = task();
        const [accepted] = await insertTasks(sql, [{ task: plain, reservation }], workerId);
        assert.equal(sent().includes(alike), each.isPlain);
        if (!each.isPlain) return;

        // One of two is stored as if it came alone, whether or not the other shares its values.
        for (const [other, form] of [
          [{}, alike],
          [{ priority: 2 }, mixed],
        ] as const) {
          const [first, second] = [task(), { ...task(), ...other }];
          await insertTasks(
            sql,
            [
              { task: first, reservation },
              { task: second, reservation },
            ],
            workerId,
          );
          assert.deepEqual(sent(), [form]);
          assert.deepEqual(await stored(first.id), await stored(plain.id));
          assert.deepEqual(await stored(second.id), { ...(await stored(plain.id)), ...other });
        }

        // In a batch with another that is not, it takes the way of all.
        const same = task();
        const other = { ...newTask(queue), tags: ["other"] };
        const [expected] = await insertTasks(
          sql,
          [
            { task: same, reservation },
            { task: other, reservation: null },
          ],
          workerId,
        );
        assert.ok(!sent().includes(PLAIN));
        assert.deepEqual(await stored(plain.id), await stored(same.id));
        assert.deepEqual(timeless(accepted), { ...timeless(expected), id: plain.id });
        assert.deepEqual(accepted?.createdAt, accepted?.runAt);
      }
    });
  }

  const refused: Record<string, () => Parameters<typeof insertTasks>[1]> = {
    "is of two queues": () => [
      { task: newTask(queue), reservation: slot() },
      { task: { ...newTask(queue), queue: "another" }, reservation: null },
    ],
    "has slots of two epochs": () => [
      { task: newTask(queue), reservation: slot(1) },
      { task: newTask(queue), reservation: slot(2) },
    ],
  };
  for (const [what, submissions] of Object.entries(refused))
    it(`is not inserted by the short statement if it ${what}`, async () => {
      sent();
      await insertTasks(sql, submissions(), workerId);
      assert.deepEqual(sent(), ["insert_tasks"]);
    });

  it("skips tasks whose idempotency key is taken, and a key is free after a day", async () => {
    const keyed = (key: string | null) => ({
      task: {
        ...newTask(queue),
        idempotency: key === null ? null : { key, requestHash: "ab", callbackSealed: null },
      },
      reservation: slot(),
    });
    sent();
    const first = keyed("one");
    const answers = await insertTasks(sql, [first, keyed("two"), keyed(null)], workerId);
    assert.ok(answers.every((answer) => answer?.handedOff));
    const again = await insertTasks(sql, [keyed("one"), keyed("three"), keyed(null)], workerId);
    assert.deepEqual(
      again.map((answer) => answer !== null),
      [false, true, true],
    );
    assert.deepEqual(await insertTasks(sql, [keyed("one")], workerId), [null]);

    await store.database.rows("update idempotency_keys set created_at = created_at - interval '24 hours'");
    const later = keyed("one");
    const [renewed] = await insertTasks(sql, [later], workerId);
    assert.equal(renewed?.id, later.task.id);
    assert.deepEqual(
      await store.database.rows(
        "select task_id, encode(request_hash, 'hex') as hash from idempotency_keys where key = 'one'",
      ),
      [{ task_id: later.task.id, hash: "ab" }],
    );
    const rows = await store.database.rows("select idempotency_key as key from tasks where id = $1", [
      first.task.id,
    ]);
    assert.deepEqual(rows, [{ key: "one" }]);
    assert.deepEqual(new Set(sent()), new Set(["insert_tasks_keyed_alike"]));
    const urgent = keyed("four");
    await insertTasks(sql, [keyed("five"), { ...urgent, task: { ...urgent.task, priority: 9 } }], workerId);
    assert.deepEqual(sent(), ["insert_tasks_keyed"]);
  });

  it("is stored as pending when its slots have another epoch, or its worker is gone", async () => {
    const gone = await store.openWorker();
    await store.database.rows("delete from workers where id = $1", [gone]);
    for (const [epoch, worker] of [
      [2, workerId],
      [1, gone],
    ] as const) {
      const [accepted] = await insertTasks(sql, [{ task: newTask(queue), reservation: slot(epoch) }], worker);
      assert.equal(accepted?.handedOff, false);
    }
  });

  it("is refused as a whole when one task is refused, with exact tallies", async () => {
    const id = newUuid();
    await insertTasks(sql, [{ task: { ...newTask(queue), id }, reservation: slot() }], workerId);
    const again = [
      { task: newTask(queue), reservation: null },
      { task: { ...newTask(queue), id }, reservation: null },
    ];
    await assert.rejects(insertTasks(sql, again, workerId));
    assert.equal(await stored(again[0]?.task.id ?? ""), undefined);
    await insertTasks(sql, [{ task: newTask(queue), reservation: null }], NO_WORKER);

    const { tallied, counted } = await countBothWays(store.database);
    assert.deepEqual(tallied, counted);
  });
});
