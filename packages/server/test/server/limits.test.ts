import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Agent, request } from "undici";
import { hashSecret } from "../../src/service/access/secret-hash.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { createTeam } from "../../src/service/people/team-service.ts";
import { insertApiKey } from "../../src/store/identity/api-keys.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { launch, ready, type ServerProcess } from "./server-process.ts";

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly limit: unknown;
  readonly remaining: unknown;
  readonly retryAfter: number;
}

describe("rate limits over two nodes on one database", () => {
  let test: TestDatabase;
  let nodes: [ServerProcess, ServerProcess];
  let agent: Agent;
  before(async () => {
    test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    const DATABASE_URL = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
    nodes = [launch({ DATABASE_URL }), launch({ DATABASE_URL })];
    agent = new Agent();
    await Promise.all(nodes.map(ready));
  });
  after(async () => {
    await agent.destroy();
    for (const node of nodes) {
      node.signal("SIGKILL");
      await node.exited;
    }
    await test.drop();
  });

  const nodeAt = (index: number) => nodes[index % 2 === 0 ? 0 : 1];
  async function send(
    node: ServerProcess,
    method: "GET" | "POST",
    path: string,
    key?: string,
  ): Promise<Answer> {
    const { statusCode, headers, body } = await request(`${node.url}${path}`, {
      dispatcher: agent,
      method,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
    return {
      status: statusCode,
      text: await body.text(),
      limit: headers["x-ratelimit-limit"],
      remaining: headers["x-ratelimit-remaining"],
      retryAfter: Number(headers["retry-after"]),
    };
  }
  const statuses = (answers: readonly Answer[], status: number) =>
    answers.filter((answer) => answer.status === status).length;

  /** A team on the free plan with two keys. */
  async function openFreeTeam(name: string): Promise<[string, string]> {
    const teamId = await createTeam(test.database, name, "free");
    const keys: [string, string] = [`bh_live_${name.repeat(40)}`, `bh_test_${name.repeat(40)}`];
    for (const key of keys) {
      await insertApiKey(test.database, {
        id: newUuid(),
        teamId,
        name: "Test",
        environment: key.startsWith("bh_test_") ? "test" : "live",
        prefix: key.slice(0, 12),
        hash: hashSecret(key),
      });
    }
    return keys;
  }

  it("refuse the 61st request of a free team on either node, with any of its keys", async () => {
    const keys = await openFreeTeam("x");
    for (let sent = 1; sent <= 60; sent += 1) {
      const answer = await send(nodeAt(sent), "GET", "/v1/queues", keys[sent % 3 === 0 ? 1 : 0]);
      assert.deepEqual([answer.status, answer.limit, answer.remaining], [200, "60", String(60 - sent)]);
    }
    for (const node of nodes) {
      for (const key of keys) {
        const { status, text, remaining, retryAfter } = await send(node, "GET", "/v1/queues", key);
        assert.deepEqual(
          [status, text, remaining],
          [429, '{"error":"Rate limit exceeded","code":"rate_limited"}', "0"],
        );
        assert.ok(retryAfter >= 1 && retryAfter <= 60, String(retryAfter));
      }
      assert.equal((await node.api("GET", "/v1/queues")).status, 200);
    }
  });

  it("allow exactly 60 of 150 concurrent requests", async () => {
    const [key] = await openFreeTeam("y");
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, index) => send(nodeAt(index), "GET", "/v1/queues", key)),
    );

    assert.equal(statuses(answers, 429), 90);
    // 503: a statement may take longer than its deadline on a busy machine.
    assert.equal(statuses(answers, 200) + statuses(answers, 503), 60);
  });

  it("refuse the 31st callback of a source on either node", async () => {
    const path = `/v1/callbacks/${"0".repeat(64)}`;
    const answers = await Promise.all(
      Array.from({ length: 45 }, (_, index) => send(nodeAt(index), "POST", path)),
    );

    assert.deepEqual([statuses(answers, 404), statuses(answers, 429)], [30, 15]);
    for (const { status, retryAfter } of answers)
      if (status === 429) assert.ok(retryAfter >= 1 && retryAfter <= 60, String(retryAfter));
  });
});
