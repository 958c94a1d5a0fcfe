import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { BELLHOP } from "../../places.ts";
import { openScene, type Scene } from "./scene.ts";

describe("bellhop import qstash", () => {
  let source: Scene;
  let target: Scene;
  before(async () => {
    source = await openScene();
    target = await openScene();
  });
  after(async () => {
    await source.close();
    await target.close();
  });

  function run(...args: string[]): Promise<{ code: number; stdout: string }> {
    return importFrom(source.baseUrl, ...args);
  }

  function importFrom(url: string, ...args: string[]): Promise<{ code: number; stdout: string }> {
    const from = ["--url", url, "--json"];
    const env = {
      QSTASH_TOKEN: source.api.team.key,
      PATH: process.env.PATH ?? "",
      BELLHOP_URL: target.baseUrl,
      BELLHOP_API_KEY: target.api.team.key,
    };
    return new Promise((resolve) =>
      execFile(process.execPath, [BELLHOP, "import", "qstash", ...from, ...args], { env }, (error, stdout) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout }),
      ),
    );
  }

  it("copies queues, URL groups and schedules from one server to another, and writes nothing with --dry-run", async () => {
    const { client } = source;
    const to = `${source.target.url}/hook`;
    await client.queue({ queueName: "orders.eu" }).upsert({ parallelism: 4, paused: true });
    await client.urlGroups.addEndpoints({
      name: "all",
      endpoints: [{ name: "one", url: to }, { url: `${to}2` }],
    });
    const bytes = Buffer.from([0, 255, 1]);
    await client.schedules.create({
      destination: to,
      cron: "CRON_TZ=Europe/Berlin 0 3 * * *",
      scheduleId: "nightly",
      body: new Blob([bytes]),
      headers: { "X-Own": "mine", "Content-Type": "image/png" },
      retries: 5,
      retryDelay: "1000",
      delay: 90,
      label: ["a", "b"],
      queueName: "orders.eu",
      callback: `${to}/callback`,
    });
    await client.schedules.create({ destination: "all", cron: "0 0 * * 1", scheduleId: "weekly" });
    await client.schedules.pause({ schedule: "weekly" });

    const tried = await run("--dry-run");
    assert.equal(tried.code, 0, tried.stdout);
    const all = JSON.parse(tried.stdout).map(
      ({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`,
    );
    for (const each of ["queue orders.eu", "URL group all", "schedule nightly", "schedule weekly"])
      assert.ok(all.includes(each), tried.stdout);
    assert.deepEqual(await target.client.schedules.list(), []);

    for (let round = 0; round < 2; round += 1) {
      const ran = await run();
      assert.equal(ran.code, 0, ran.stdout);
    }
    const bare = ({ createdAt, updatedAt, ...rest }: { createdAt: number; updatedAt?: number }) => rest;
    const byId = async (scene: Scene) =>
      (await scene.client.schedules.list()).map((schedule) => ({ ...bare(schedule), nextScheduleTime: 0 }));
    assert.deepEqual(await byId(target), await byId(source));
    const groupOf = async (scene: Scene) => bare(await scene.client.urlGroups.get("all"));
    assert.deepEqual(await groupOf(target), await groupOf(source));
    const queue = await target.client.queue({ queueName: "orders.eu" }).get();
    assert.deepEqual([queue.parallelism, queue.paused], [4, true]);
  });

  it("keeps each name of a hostile source to the part of the path that it is for", async () => {
    const to = `${source.target.url}/hook`;
    const names = [
      "..",
      ".",
      "../keys/rotate",
      "..\\keys\\rotate",
      "%2e%2e/keys/rotate",
      "a/../../keys/rotate?",
      ["a"],
      null,
    ];
    const answers: Record<string, object[]> = {
      "/v2/queues": names.map((name) => ({ name, parallelism: 1, paused: false })),
      "/v2/topics": names.map((name) => ({ name, endpoints: [{ url: to }] })),
      "/v2/schedules": [
        ...names.map((destination, at) => ({ scheduleId: `s${at}`, destination, cron: "0 0 * * *" })),
        ...["https://../../keys/rotate", "https://h/../../../keys/rotate"].map((destination, at) => ({
          scheduleId: `u${at}`,
          destination,
          cron: "0 0 * * *",
        })),
        ...names.map((scheduleId) => ({ scheduleId, destination: to, cron: "0 0 * * *", isPaused: true })),
      ],
    };
    const hostile = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answers[request.url ?? ""] ?? []));
    });
    await once(hostile.listen(0, "127.0.0.1"), "listening");
    const address = hostile.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    try {
      const before = await target.client.http.request({ path: ["v2", "keys"], method: "GET" });
      const ran = await importFrom(`http://127.0.0.1:${port}`);
      assert.equal(ran.code, 1, ran.stdout);
      assert.equal(JSON.parse(ran.stdout).length, Object.values(answers).flat().length);
      assert.deepEqual(await target.client.http.request({ path: ["v2", "keys"], method: "GET" }), before);
    } finally {
      hostile.closeAllConnections();
      hostile.close();
    }
  });
});
