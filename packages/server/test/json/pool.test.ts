import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Worker } from "node:worker_threads";
import { NO_BOUNDS } from "../../src/domain/json/scan.ts";
import { UNBOUNDED } from "../../src/domain/limits.ts";
import { createJsonGate, SHORT_TEXT } from "../../src/json/gate.ts";
import { createJsonPool, type JsonPool, type PoolOptions } from "../../src/json/pool.ts";

/** Answers each text with itself; one that says so is never answered, or takes all memory there is. */
const ECHO = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ text }) => {
      if (text === "forever") for (;;);
      const all = [];
      while (text === "memory") all.push(Array(1000).fill({}).map(() => ({ a: {} })));
      parentPort.postMessage({ text });
    });
  `)}`,
);

describe("threads for large JSON", () => {
  const started: Worker[] = [];
  process.on("worker", (worker) => started.push(worker));
  const pools: JsonPool[] = [];
  const open = (options: PoolOptions = {}) => {
    started.length = 0;
    const pool = createJsonPool({ script: ECHO, ...options });
    pools.push(pool);
    return pool;
  };
  after(() => Promise.all(pools.map((pool) => pool.stop())));
  const job = (text: string) => ({ kind: "check", text, bounds: NO_BOUNDS }) as const;
  const run = (pool: JsonPool, teamId: number, text: string) => pool.run(teamId, job(text), true);

  it("start with the first job, up to the configured number", async () => {
    const pool = open({ threads: 2 });
    assert.equal(started.length, 0);
    await Promise.all([1, 2, 3, 4, 5].map((teamId) => run(pool, teamId, "x")));
    assert.equal(started.length, 2);
  });

  it("alternate between the jobs of the teams", async () => {
    const pool = open({ threads: 1 });
    const order: string[] = [];
    const note = (teamId: number, text: string) =>
      run(pool, teamId, text).then(() => {
        order.push(text);
      });
    await Promise.all([
      ...["a1", "a2", "a3", "a4"].map((text) => note(1, text)),
      ...["b1", "b2"].map((text) => note(2, text)),
      note(3, "c1"),
    ]);
    assert.deepEqual(order, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  it("are replaced when a job takes too long, and the other jobs complete", async () => {
    const results: string[] = [];
    let begun: () => void = () => {};
    const isUnderWay = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const timers: (() => void)[] = [];
    const setTimer = (callback: () => void) => {
      timers.push(callback);
      begun();
      return { cancel() {} };
    };
    const pool = open({ threads: 1, setTimer, onJob: (result) => results.push(result) });
    const both = [run(pool, 1, "forever"), run(pool, 1, "x")];
    await isUnderWay;
    timers[0]?.();
    const [stuck, next] = await Promise.all(both);
    assert.equal(stuck, "time");
    assert.deepEqual(next, { text: "x" });
    assert.deepEqual(results, ["time", "done"]);
    assert.equal(started.length, 2);
  });

  it("are replaced when a job takes too much memory", async () => {
    const pool = open({ threads: 1, memoryMb: 16, jobMs: 120_000 });
    const [large, next] = await Promise.all([run(pool, 1, "memory"), run(pool, 2, "x")]);
    assert.equal(large, "memory");
    assert.deepEqual(next, { text: "x" });
  });

  it("limit the waiting jobs of a team without effect on other teams", async () => {
    const pool = open({ threads: 1, mostWaiting: 10 });
    // The first is under way, and does not wait.
    const begun = run(pool, 1, "x".repeat(10));
    const waits = run(pool, 1, "x".repeat(10));
    assert.equal(await run(pool, 1, "x"), "crowded");
    assert.deepEqual(await run(pool, 2, "y"), { text: "y" });
    await Promise.all([begun, waits]);
    assert.deepEqual(await run(pool, 1, "z"), { text: "z" });
  });

  it("report waiting jobs as stopped when they stop", async () => {
    const pool = open({ threads: 1, jobMs: 60_000 });
    const both = [run(pool, 1, "forever"), run(pool, 1, "x")];
    await pool.stop();
    assert.deepEqual(await Promise.all(both), ["stopped", "stopped"]);
    assert.equal(await run(pool, 1, "x"), "stopped");
  });
});

describe("the JSON gate", () => {
  const pool = createJsonPool();
  const gate = createJsonGate(pool);
  after(() => gate.stop());
  const filler = "x".repeat(SHORT_TEXT);

  it("parses short text at once, and long text in a thread", async () => {
    const short = gate.lookUp(1, '{"a":{"b":1}}', ["a.b"], 100, UNBOUNDED);
    assert.ok(!(short instanceof Promise));
    const long = gate.lookUp(1, `{"x":"${filler}","a":{"b":1}}`, ["a.b"], 100, UNBOUNDED);
    assert.ok(long instanceof Promise);
    assert.deepEqual(await long, short);
  });

  it("names the limit of the plan that a long text exceeds", async () => {
    const text = JSON.stringify({ list: Array(SHORT_TEXT).fill(0) });
    const found = await gate.lookUp(1, text, ["a"], 100, { ...UNBOUNDED, jsonElements: 1_000 });
    assert.deepEqual(found, { kind: "refused", reason: "has more than 1000 elements (jsonElements)" });
  });

  it("parses a large body without its payload and body fields", async () => {
    const payload = `{ "n" : 12345678901234567890, "x":"${filler}" }`;
    const read = await gate.readBody(1, `{"queue":"q","payload":${payload},"body":[ 1 ]}`, UNBOUNDED);
    assert.ok(read);
    assert.deepEqual(read.value, { queue: "q", payload: { "": 0 }, body: [1] });
    assert.equal(read.extracted?.textOf('{"":0}'), payload);
    assert.equal(read.extracted?.textOf("[1]"), "[ 1 ]");
  });

  it("refuses a large body that is not JSON or has too many fields", async () => {
    await assert.rejects(async () => gate.readBody(1, `{"a":"${filler}"`, null), { code: "body_not_json" });
    const fields = Array.from({ length: 50_001 }, (_, index) => `"f${index}":0`).join();
    await assert.rejects(async () => gate.readBody(1, `{${fields}}`, null), { code: "body_bounds" });
    assert.ok(await gate.readBody(1, `{"payload":{${fields}}}`, null));
  });
});
