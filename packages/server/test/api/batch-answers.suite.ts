import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { MOST_ANSWER_BYTES } from "../../src/domain/answer-room.ts";
import { BODY_LIMIT, createTestApi, type TestApi } from "./test-api.ts";

const TARGET = "https://target.example/start";
const LARGE = "x".repeat(BODY_LIMIT - 1_000);

interface Result {
  readonly task: Record<string, unknown>;
  readonly callbackId?: string;
  readonly replayed?: boolean;
  readonly deduplicated?: boolean;
  readonly replaced?: boolean;
}

describe("the size of the answer to a batch", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  async function batch(tasks: readonly object[], atomic = false): Promise<readonly Result[]> {
    const { status, text, body } = await api.call("POST", "/v1/tasks/batch", { tasks, atomic });
    assert.equal(status, 200, text.slice(0, 300));
    assert.ok(Buffer.byteLength(text) <= MOST_ANSWER_BYTES, `${Buffer.byteLength(text)} bytes`);
    assert.equal(body.results.length, tasks.length);
    return body.results;
  }

  async function large(more: object): Promise<string> {
    const task = { targetUrl: TARGET, delay: 3600, body: LARGE, ...more };
    const { status, body } = await api.call("POST", "/v1/tasks", task);
    assert.equal(status, 201);
    return body.task.id;
  }

  for (const atomic of [false, true])
    it(`leaves the body of an earlier task out of every item that joins it, with atomic: ${atomic}`, async () => {
      for (const [mode, name] of [
        ["first", "deduplicated"],
        ["replace", "replaced"],
      ] as const) {
        const dedupe = { key: `joined-${mode}-${atomic}`, mode, window: 3600 };
        const id = await large({ dedupe });
        const body = mode === "replace" ? LARGE.slice(0, 8_000) : undefined;
        const results = await batch(
          Array(200).fill({ targetUrl: TARGET, delay: 3600, body, dedupe }),
          atomic,
        );
        assert.ok(results.every((result) => result.task.id === id && result[name] === true));
        const { task } = results[0] ?? assert.fail();
        assert.deepEqual(
          [task.status, task.targetUrl, task.queue, "body" in task],
          ["pending", TARGET, "default", false],
        );
      }
    });

  it("leaves the body of the earlier task out of every replayed item", async () => {
    const dedupe = { key: "bound", mode: "first", window: 3600 };
    const id = await large({ dedupe });
    const items = Array.from({ length: 200 }, (_, n) => ({
      targetUrl: TARGET,
      delay: 3600,
      dedupe,
      idempotencyKey: `bound-${n}`,
    }));
    await batch(items);
    for (const atomic of [false, true]) {
      const results = await batch(items, atomic);
      assert.ok(
        results.every(({ task, replayed }) => task.id === id && replayed === true && !("body" in task)),
      );
    }
  });

  it("has 1 MiB for new tasks: then without their bodies, then only id, status and callback", async () => {
    const bodies = await batch(Array(40).fill({ targetUrl: TARGET, delay: 60, body: LARGE }));
    assert.equal(bodies[0]?.task.body, LARGE);
    assert.deepEqual([bodies[39]?.task.targetUrl, bodies[39]?.task.body], [TARGET, undefined]);

    const longUrl = `${TARGET}/${"u".repeat(8_000)}`;
    const urls = await batch(Array(300).fill({ targetUrl: longUrl, delay: 60 }));
    assert.equal(urls[0]?.task.targetUrl, longUrl);
    assert.deepEqual(Object.keys(urls[299]?.task ?? {}), ["id", "status"]);
    assert.equal(new Set(urls.map(({ callbackId }) => callbackId)).size, 300);
    assert.equal(new Set(urls.map(({ task }) => task.id)).size, 300);
  });

  it("shows a thousand small tasks whole", async () => {
    const results = await batch(Array(1000).fill({ targetUrl: TARGET, delay: 60, body: { n: 1 } }));
    assert.ok(results.every(({ task }) => "body" in task && "targetUrl" in task));
  });
});

describe("the size of the answer to POST /v2/batch", () => {
  const GROUPS = 30;
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
    await api.server.database.rows(
      `insert into url_groups (team_id, name, endpoints)
       select $1, 'g' || n, (select jsonb_agg(jsonb_build_object('name', 'e' || e, 'url', 'https://a.example/' || e || repeat('u', 8000)))
                               from generate_series(1, 100) e)
         from generate_series(1, ${GROUPS}) n`,
      [api.team.id],
    );
  });
  const batch = (items: readonly object[]) => api.call("POST", "/v2/batch", items);

  it("names every message, and its URL while there is room in 1 MiB", async () => {
    const group = { destination: "g1", headers: { "upstash-delay": "1h" } };
    const { status, text, body } = await batch([
      group,
      group,
      { ...group, destination: "https://a.example/" },
      {},
    ]);
    assert.equal(status, 200, text.slice(0, 300));
    assert.ok(Buffer.byteLength(text) <= MOST_ANSWER_BYTES, `${Buffer.byteLength(text)} bytes`);
    const messages = body.slice(0, 2).flat();
    assert.equal(new Set(messages.map(({ messageId }: { messageId: string }) => messageId)).size, 200);
    assert.match(messages[0].url, /^https:\/\/a\.example\/1u{8000}$/);
    assert.deepEqual(Object.keys(messages[199]), ["messageId"]);
    assert.deepEqual([Object.keys(body[2]), Object.keys(body[3])], [["messageId"], ["error"]]);
  });

  it("reads no more groups than it needs to refuse a batch as too large", async () => {
    const { sent } = api.server.requests;
    const before = sent.length;
    const { status, text } = await batch(
      Array.from({ length: GROUPS }, (_, n) => ({ destination: `g${n + 1}` })),
    );
    assert.equal(status, 400, text);
    const reads = sent.slice(before).filter((name) => name === "find_url_group").length;
    assert.equal(reads, 11);
  });
});
