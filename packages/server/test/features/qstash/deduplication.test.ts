import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTaskChanges } from "../../../src/domain/task-changes.ts";
import { createMessageDeduplication } from "../../../src/features/qstash/service-deduplication.ts";
import { originOf } from "../../../src/features/qstash/service-publish.ts";
import { plainRequest } from "../../test-server.ts";
import { acceptText, createGate, watchDatabase } from "../../test-sql.ts";
import { openScene, type Scene, sha256 } from "./scene.ts";

describe("deduplication of many messages", () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    // The first message of a team creates its queue.
    await scene.api.call("POST", "/v2/batch", sent("/first", 1));
  });
  after(() => scene.close());

  const sent = (path: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      destination: `${scene.target.url}${path}/${index}`,
      headers: { "Upstash-Deduplication-Id": `${path}-${index}` },
      body: "x",
    }));

  /** How many transactions have stored the messages to this path, and how many there are. */
  async function stored(path: string): Promise<{ messages: number; transactions: number }> {
    const [counts] = await scene.api.server.database.rows<{ messages: number; transactions: number }>(
      `select count(*)::integer as messages, count(distinct k.xmin::text)::integer as transactions
         from tasks t join message_keys k on k.team_id = t.team_id and k.task_id = t.id where t.url like $1`,
      [`${scene.target.url}${path}/%`],
    );
    assert.ok(counts !== undefined);
    return counts;
  }

  it("takes a few transactions for a batch, and answers in its order", async () => {
    const batch = [...sent("/batch", 120), ...sent("/batch", 2)];
    const first = await scene.api.call("POST", "/v2/batch", batch);
    assert.equal(first.status, 200);
    const ids = first.body.map(({ messageId }: { messageId: string }) => messageId);
    assert.equal(new Set(ids).size, 120);
    assert.deepEqual(first.body.slice(120), [
      { messageId: ids[0], deduplicated: true },
      { messageId: ids[1], deduplicated: true },
    ]);
    const { messages, transactions } = await stored("/batch");
    assert.equal(messages, 120);
    assert.ok(transactions <= 40, `${transactions} transactions`);

    const again = await scene.api.call("POST", "/v2/batch", batch);
    assert.ok(again.body.every(({ deduplicated }: { deduplicated: boolean }) => deduplicated));
    assert.equal((await stored("/batch")).messages, 120);
  });

  it("takes a few transactions for a URL group", async () => {
    const endpoints = Array.from({ length: 100 }, (_, index) => ({
      url: `${scene.target.url}/group/${index}`,
    }));
    await scene.api.call("POST", "/v2/topics/wide/endpoints", { endpoints });
    const headers = { "upstash-content-based-deduplication": "true", "content-type": "text/plain" };
    const answer = await scene.api.call("POST", "/v2/publish/wide", "x", headers);
    assert.equal(answer.status, 200);
    assert.deepEqual(
      answer.body.map(({ url }: { url: string }) => url),
      endpoints.map(({ url }) => url),
    );
    const { messages, transactions } = await stored("/group");
    assert.equal(messages, 100);
    assert.ok(transactions <= 40, `${transactions} transactions`);
  });

  describe("of one node", () => {
    async function open() {
      const { server, services, team } = scene.api;
      const database = watchDatabase(acceptText(server.database));
      const deduplicate = createMessageDeduplication({ database, changes: createTaskChanges() });
      const requester = { ...server.principal, teamId: team.id };
      const message = async (name: string, key = name, queue = "default") => {
        const plain = plainRequest(`${scene.target.url}/${name}`);
        const { task } = await services.tasks.accept(originOf(requester), { ...plain, queue });
        return { task, key: sha256(key) };
      };
      return { database, deduplicate, message };
    }

    it("shares the transaction after the one under way", async () => {
      const { database, deduplicate, message } = await open();
      const messages = await Promise.all(Array.from({ length: 150 }, (_, index) => message(`m${index}`)));
      const gate = createGate();
      database.before = () => gate.wait();
      const [head, ...others] = messages.map(({ task, key }) => ({ task, key }));
      assert.ok(head !== undefined);
      const first = deduplicate(head);
      await gate.reached;
      const rest = others.map(deduplicate);
      gate.open();

      assert.deepEqual(
        await Promise.all([first, ...rest]),
        messages.map(({ task }) => task.id),
      );
      assert.equal(database.begun, 2);
      assert.equal(database.sent.filter((name) => name === "take_message_keys").length, 2);
    });

    it("refuses a message without its neighbours, and frees its key", async () => {
      const { deduplicate, message } = await open();
      const refused = await message("refused", "shared", "no-such-queue");
      const repeat = await message("repeat", "shared");
      const stored = await message("neighbour");
      const [first, second, other] = await Promise.allSettled([
        deduplicate(refused),
        deduplicate(repeat),
        deduplicate(stored),
      ]);
      for (const each of [first, second])
        assert.equal(each.status === "rejected" && each.reason.code, "queue_not_found");
      assert.equal(other.status === "fulfilled" && other.value, stored.task.id);
      const later = await message("later", "shared");
      assert.equal(await deduplicate(later), later.task.id);
    });
  });
});
