import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { MOST_ANSWER_BYTES } from "../../src/domain/answer-room.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

interface Entry {
  readonly messageId: string;
  readonly state: string;
  readonly time: number;
  readonly header?: object;
  readonly body?: string;
}

describe("the size of answers about messages", () => {
  const TARGET = `https://a.example/${"u".repeat(4000)}`;
  const ATTEMPTS = 140;
  let api: TestApi;
  let ids: string[];

  /** Failed messages: two with many attempts and long headers, then four with large bodies and answers. */
  before(async () => {
    api = await createTestApi();
    ids = [];
    for (let message = 0; message < 6; message += 1) {
      const headers = { "upstash-delay": "1h", "upstash-forward-x-long": "h".repeat(6000) };
      ids.push((await api.call("POST", `/v2/publish/${TARGET}`, "small", headers)).body.messageId);
    }
    const attempts = (count: number) =>
      JSON.stringify(
        Array.from({ length: count }, (_, index) => ({
          number: index + 1,
          status: "failed",
          code: 500,
          at: new Date(1_700_000_000_000 + index * 1000).toISOString(),
          ms: 10,
          phase: "responded",
          error: "The target answered 500",
        })),
      );
    const change = `update tasks set status = 'failed', list_key = 'failed', due_at = null, completed_at = now(), attempts = $3::jsonb, attempt_count = $4,
        body = $5, result = $6::jsonb where team_id = $1 and id = any($2::uuid[])`;
    const answered = (body: string) => JSON.stringify({ statusCode: 500, headers: {}, body, duration: 1 });
    const { database } = api.server;
    const { id: team } = api.team;
    await database.rows(change, [team, ids.slice(0, 2), attempts(ATTEMPTS), ATTEMPTS, "small", answered("")]);
    const large = "b".repeat(400_000);
    await database.rows(change, [
      team,
      ids.slice(2),
      attempts(4),
      4,
      large,
      answered(large.slice(0, 200_000)),
    ]);
  });

  async function readAll(path: string, member: string): Promise<{ pages: number; entries: Entry[] }> {
    const entries: Entry[] = [];
    const glue = path.includes("?") ? "&" : "?";
    for (let cursor: string | undefined, pages = 1; ; pages += 1) {
      const { status, text, body } = await api.call(
        "GET",
        cursor === undefined ? path : `${path}${glue}cursor=${cursor}`,
      );
      assert.equal(status, 200, text.slice(0, 300));
      assert.ok(text.length <= MOST_ANSWER_BYTES, `${path}: ${text.length} bytes`);
      entries.push(...body[member]);
      cursor = body.cursor;
      if (cursor === undefined) return { pages, entries };
      assert.ok(pages < 100);
    }
  }

  for (const [path, member] of [
    ["/v2/logs", "logs"],
    ["/v2/events", "events"],
  ] as const)
    it(`${path}: pages of at most 1 MiB have every entry once, and each body and header once`, async () => {
      const { pages, entries } = await readAll(path, member);
      assert.ok(pages > 2, `${pages} pages`);
      for (const [index, id] of ids.entries()) {
        const own = entries.filter(({ messageId }) => messageId === id);
        const attempts = index < 2 ? ATTEMPTS : 4;
        const states = own.map(({ state }) => state);
        const count = (state: string) => states.filter((each) => each === state).length;
        assert.deepEqual(["CREATED", "ACTIVE", "ERROR", "RETRY", "FAILED"].map(count), [
          1,
          attempts,
          attempts,
          attempts - 1,
          1,
        ]);
        const withBody = own.filter(({ body }) => body !== undefined);
        assert.deepEqual(
          withBody.map(({ state, header }) => [state, header !== undefined]),
          [["CREATED", true]],
        );
        assert.equal(own.filter(({ header }) => header !== undefined).length, 1);
      }
      assert.equal(entries.length, 2 * (3 * ATTEMPTS + 1) + 4 * 13);
    });

  it("/v2/logs: shows the body with one entry of each message, also where the filter leaves the creation out", async () => {
    const { entries } = await readAll("/v2/logs?state=FAILED", "logs");
    assert.deepEqual(entries.map(({ messageId }) => messageId).sort(), [...ids].sort());
    assert.ok(entries.every(({ body, state }) => body !== undefined && state === "FAILED"));
  });

  it("/v2/dlq: pages of at most 1 MiB have every message once", async () => {
    const { pages, entries } = await readAll("/v2/dlq", "messages");
    assert.equal(pages, 4);
    assert.deepEqual(
      entries.map(({ messageId }) => messageId),
      [...ids].reverse(),
    );
  });

  it("DELETE /v2/dlq: dismisses every message of a page whose records are larger than an answer", async () => {
    assert.deepEqual((await api.call("DELETE", "/v2/dlq")).body, { deleted: ids.length });
  });
});
