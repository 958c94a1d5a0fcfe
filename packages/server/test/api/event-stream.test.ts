import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse, request as send } from "node:http";
import { after, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createEventBody } from "../../src/api/http/event-stream.ts";

describe("createEventBody", () => {
  const server = createServer();
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function openStream() {
    if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port");
    const answered = new Promise<ServerResponse>((resolve) => {
      server.once("request", (_, response) => resolve(response));
    });
    const client = send({ host: "127.0.0.1", port: address.port });
    client.end();
    const connection = await answered;
    const { body, sink } = createEventBody(connection);
    body.pipe(connection);
    const [reader] = await Promise.all([once(client, "response"), sink.write("ready\n\n")]);
    return { sink, reader: reader[0], connection };
  }

  it("is not drained until the reader has consumed a write that filled the connection", async () => {
    const { sink, reader, connection } = await openStream();
    sink.write("x".repeat(20_000_000));
    let isDrained = false;
    const drained = sink.drained().then(() => {
      isDrained = true;
    });
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();

    assert.equal(isDrained, false);
    assert.ok(connection.writableLength > 1_000_000);
    reader.resume();
    await drained;
    assert.equal(connection.writableNeedDrain, false);
  });

  it("is drained after a small write without a further write", async () => {
    const { sink, reader } = await openStream();
    reader.resume();
    sink.write("id: 1\n\n");
    await sink.drained();
  });

  it("is drained once the connection is cut", async () => {
    const { sink } = await openStream();
    sink.write("x".repeat(20_000_000));
    const drained = sink.drained();
    sink.cut();
    await drained;
  });
});
