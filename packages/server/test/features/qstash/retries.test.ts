import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client } from "@upstash/qstash";
import { until } from "../../patience.ts";
import { openScene, type Scene } from "./scene.ts";

describe("a retry from the DLQ with headers", () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    scene.target.answer = (_call, response) => response.writeHead(500).end();
  });
  after(() => scene.close());

  async function publish(headers: Record<string, string>, client = scene.client): Promise<string> {
    const url = `${scene.target.url}/retried`;
    const { messageId } = await client.publish({ url, retries: 0, body: "b", headers });
    await scene.settle();
    return messageId;
  }

  async function retry(
    messageId: string,
    headers: Record<string, string>,
    client = scene.client,
  ): Promise<void> {
    const { messages } = await client.dlq.listMessages({ filter: { messageId } });
    await client.http.request({
      method: "POST",
      path: ["v2", "dlq", "retry", messages[0]?.dlqId ?? ""],
      headers: new Headers(headers),
    });
    await scene.settle();
  }

  const headersOf = async (messageId: string) => (await scene.client.messages.get(messageId)).header ?? {};

  it("replaces those that the retry before has added, over 50 retries of one message", async () => {
    const id = await publish({ "X-Own": "own", "X-Both": "own" });
    const own = Object.keys(await headersOf(id)).length;
    for (let round = 1; round <= 50; round += 1)
      await retry(id, {
        [`Upstash-Forward-X-Round-${round}`]: "added",
        "Upstash-Forward-X-Both": `${round}`,
      });

    const headers = await headersOf(id);
    assert.equal(Object.keys(headers).length, own + 1);
    assert.deepEqual(
      ["X-Own", "X-Both", "X-Round-50"].map((name) => headers[name]),
      [["own"], ["50"], ["added"]],
    );
    await retry(id, {});
    assert.deepEqual(await headersOf(id), headers);
  });

  it("takes one place among the open tasks of a plan, and is refused without", async () => {
    const { api, baseUrl } = scene;
    const { id: teamId, key } = await api.openTeam();
    await api.server.database.rows("update teams set limits = $2::jsonb where id = $1", [
      teamId,
      '{"tasksOpen":2}',
    ]);
    const client = new Client({ baseUrl, token: key, retry: false });
    const id = await publish({}, client);
    const calls = scene.callsTo("/retried").length;
    const told = `${scene.target.url}/told`;
    const changes = { "Upstash-Callback": told, "Upstash-Failure-Callback": told };

    // The node has counted the message, which was tried again when its queue existed, and not its end.
    await assert.rejects(retry(id, changes, client), { status: 429 });
    assert.equal(scene.callsTo("/retried").length, calls);
    api.server.freeze(3);
    await until(() =>
      retry(id, changes, client).then(
        () => true,
        () => false,
      ),
    );
    assert.equal(scene.callsTo("/retried").length, calls + 1);
  });

  it("is refused when the message would have more headers than a new one may, and changes nothing", async () => {
    const many = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, "x"]));
    const id = await publish(many("X-Own-", 40));
    const headers = await headersOf(id);
    const calls = scene.callsTo("/retried").length;

    await assert.rejects(retry(id, many("Upstash-Forward-X-Added-", 40)), /headers must be at most 64/);

    assert.deepEqual(await headersOf(id), headers);
    assert.equal(scene.callsTo("/retried").length, calls);
  });
});
