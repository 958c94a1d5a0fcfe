import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { notificationText } from "../../src/api/tasks/notification-view.ts";
import { parseTaskId } from "../../src/domain/task-id.ts";
import { principalOf } from "../test-principal.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const LABELS = { tags: ["signup", "é".repeat(64)], metadata: { order: "4711", "": "" } };

const KINDS = {
  "a queue task": { queue: "default", webhook_url: "http://a/" },
  "a direct task": { targetUrl: "http://a/" },
};

for (const [kind, base] of Object.entries(KINDS)) {
  describe(`tags and metadata of ${kind}`, () => {
    let api: TestApi;
    before(async () => {
      api = await createTestApi();
    });

    const create = (fields: object) => api.call("POST", "/v1/tasks", { ...base, ...fields });
    const created = async (fields: object): Promise<string> => {
      const { status, text, body } = await create(fields);
      assert.equal(status, 201, text);
      return (body.task ?? body).id;
    };
    const recordOf = async (id: string) => {
      const { body } = await api.call("GET", `/v1/tasks/${id}`);
      return body.task ?? body;
    };

    it("are in the record, in lists and in the notification, not in the answer to a creation", async () => {
      const id = await created(LABELS);
      const { tags, metadata } = await recordOf(id);
      assert.deepEqual({ tags, metadata }, LABELS);

      const [listed] = (await api.call("GET", "/v1/tasks?limit=1")).body.tasks;
      assert.deepEqual([listed.id, listed.tags, listed.metadata], [id, LABELS.tags, LABELS.metadata]);

      const task = await api.services.tasks.get(principalOf(api.team.id), parseTaskId(id) ?? "");
      const told = JSON.parse(notificationText(task)).data.task;
      assert.deepEqual({ tags: told.tags, metadata: told.metadata }, LABELS);

      const { text } = await create(LABELS);
      assert.doesNotMatch(text, /tags|metadata|signup|"4711"/);
    });

    it("are left out of the record of a task without them", async () => {
      const record = await recordOf(await created({}));

      assert.deepEqual(["tags" in record, "metadata" in record], [false, false]);
    });

    it("are accepted up to their limits", async () => {
      const most = Array.from({ length: 10 }, (_, index) => `${index}`.padStart(64, "x"));
      assert.deepEqual((await recordOf(await created({ tags: most }))).tags, most);
      const entries = Array.from({ length: 16 }, (_, index) => [
        `key-${index}`.padStart(8, "0"),
        "v".repeat(56),
      ]);
      const largest = Object.fromEntries(entries);
      assert.deepEqual((await recordOf(await created({ metadata: largest }))).metadata, largest);
    });

    it("are refused with the rule that they break", async () => {
      const tooMany = "metadata must be at most 16 entries and 1024 bytes together";
      const storable = "text without NUL characters or lone surrogates";
      const cases: [object, string][] = [
        [{ tags: "a" }, "tags must be an array of 0 to 10 strings"],
        [{ tags: Array(11).fill("a") }, "tags must be an array of at most 10 strings"],
        [{ tags: Array(10_000).fill(0) }, "tags must be an array of at most 10 strings"],
        [{ tags: [""] }, 'tags["0"] must be a string of 1 to 64 characters'],
        [{ tags: ["x".repeat(65)] }, 'tags["0"] must be a string of 1 to 64 characters'],
        [{ tags: ["a", 1] }, 'tags["1"] must be a string of 1 to 64 characters'],
        [{ tags: ["a", "b", "a"] }, "tags must be distinct"],
        [{ tags: ["a\u0000"] }, `tags must be ${storable}`],
        [{ metadata: [] }, "metadata must be an object"],
        [{ metadata: { a: 1 } }, 'metadata["a"] must be a string'],
        [{ metadata: { a: { b: "c" } } }, 'metadata["a"] must be a string'],
        [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ""])) }, tooMany],
        [{ metadata: { a: "v".repeat(1024) } }, tooMany],
        [{ metadata: { a: "é".repeat(512) } }, tooMany],
        [{ metadata: { "\ud800": "a" } }, `metadata must be ${storable}`],
        [{ metadata: { a: "\ud83d", b: "\ude00" } }, `metadata must be ${storable}`],
      ];
      for (const [fields, error] of cases) {
        const { status, body } = await create(fields);
        assert.deepEqual([status, body.error], [400, error], JSON.stringify(fields).slice(0, 80));
      }
    });
  });
}
