import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openScene, type Scene } from "./scene.ts";

describe("a retry from the DLQ with headers", () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    scene.target.answer = (_call, response) => response.writeHead(500).end();
  });
  after(() => scene.close());

  async function publish(headers: Record<string, string>): Promise<string> {
    const url = `${scene.target.url}/retried`;
    const { messageId } = await scene.client.publish({ url, retries: 0, body: "b", headers });
    await scene.settle();
    return messageId;
  }

  async function retry(messageId: string, headers: Record<string, string>): Promise<void> {
    const { messages } = await scene.client.dlq.listMessages({ filter: { messageId } });
    await scene.client.http.request({
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
