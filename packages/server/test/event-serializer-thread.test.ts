import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Worker } from "node:worker_threads";
import { SERVER_SENT } from "../src/api/tasks/event-view.ts";
import {
  createEventSerializerThread,
  type EventSerializerThread,
} from "../src/server/compose-event-serializer.ts";
import { createEventSerializer, type Question } from "../src/service/tasks/event-serializer.ts";
import { listenTo } from "../src/store/tasks/event-reads.ts";
import { until } from "./patience.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

const BEGINNING = { xid: "0", seq: "0", index: 0, atMs: 0 };
const ALL = { sandbox: false, types: null, queue: null, tag: null };

describe("the event serializer thread", () => {
  let server: TestServer;
  let thread: EventSerializerThread;
  const failures: Error[] = [];
  const workers: Worker[] = [];
  process.on("worker", (worker) => workers.push(worker));
  const openThread = () => {
    const { host = "", port = 0, user = "", database = "" } = server.connection;
    return createEventSerializerThread({ host, port, user, database }, (error) => failures.push(error));
  };
  before(async () => {
    server = await openTestServer();
    thread = openThread();
    await listenTo(server.database, [server.principal.teamId]);
    await server.submit({ tags: ["größer 🛎"], delaySeconds: 60 });
    await server.submit({ delaySeconds: 60 });
  });
  after(async () => {
    await thread.stop();
    await server.close();
  });

  const question = (): Question => ({
    teamId: server.principal.teamId,
    position: BEGINNING,
    subscriptions: [
      { filter: ALL, after: BEGINNING },
      { filter: { ...ALL, tag: "größer 🛎" }, after: BEGINNING },
      { filter: { ...ALL, queue: "another" }, after: BEGINNING },
    ],
  });
  const created = (text = "") => text.split("event: task.created").length - 1;
  const textsOf = async (serializer: Pick<EventSerializerThread, "look">) => {
    const [answer] = await serializer.look([question()]);
    return answer?.texts.map((text) => (typeof text === "string" ? text : new TextDecoder().decode(text)));
  };

  it("returns the same texts as the serializer without a thread", async () => {
    const direct = createEventSerializer(server.database, SERVER_SENT);
    let told = await textsOf(thread);
    // Events wait for older transactions that may write some.
    await until(async () => {
      told = await textsOf(thread);
      return created(told?.[0]) >= 2;
    });
    assert.deepEqual(told, await textsOf(direct));
    assert.equal(created(told?.[1]), 1);
    assert.equal(told?.[2], "");
  });

  it("rejects open requests when it exits, and is restarted by the next read", async () => {
    const unanswered = thread.look([question()]);
    await Promise.all([assert.rejects(unanswered), workers.at(-1)?.terminate()]);
    assert.equal((await textsOf(thread))?.length, 3);
    assert.equal(workers.length, 2);
    assert.deepEqual(failures, []);
  });

  it("is not restarted after it was stopped", async () => {
    const other = openThread();
    await other.stop();
    const before = workers.length;
    await assert.rejects(other.look([question()]));
    assert.equal(workers.length, before);
  });

  it("rejects a read that fails, and answers the next", async () => {
    await assert.rejects(thread.look([{ ...question(), position: { ...BEGINNING, xid: "no number" } }]));
    assert.equal((await textsOf(thread))?.length, 3);
  });
});
