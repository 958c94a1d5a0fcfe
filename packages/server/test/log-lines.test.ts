import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it, type TestContext } from "node:test";
import { createLogLines } from "../src/server/log-lines.ts";

const CHUNK_BYTES = 100;
const LATEST_MS = 100;

function collect(test: TestContext) {
  test.mock.timers.enable({ apis: ["setTimeout"] });
  const chunks: string[] = [];
  let flushes = 0;
  const writer = {
    write: (chunk: string) => void chunks.push(chunk),
    flushSync: () => {
      flushes += 1;
    },
  };
  return { lines: createLogLines(writer, CHUNK_BYTES), chunks, flushes: () => flushes };
}

it("log lines are written in chunks of whole lines, up to a limit in bytes", (test) => {
  const { lines, chunks } = collect(test);
  // 31 characters, 41 bytes.
  const line = `${"ä".repeat(10)}${"a".repeat(20)}\n`;
  for (let count = 0; count < 5; count += 1) lines.write(line);
  assert.deepEqual(chunks, [line.repeat(2), line.repeat(2)]);
  test.mock.timers.tick(LATEST_MS);
  assert.deepEqual(chunks, [line.repeat(2), line.repeat(2), line]);
});

it("a log line that is longer than a chunk is written alone and whole", (test) => {
  const { lines, chunks } = collect(test);
  const long = `${"x".repeat(CHUNK_BYTES * 2)}\n`;
  for (const line of ["a\n", long, "b\n"]) lines.write(line);
  lines.flushSync();
  assert.deepEqual(chunks, ["a\n", long, "b\n"]);
});

it("a single log line is written after 100 ms", (test) => {
  const { lines, chunks } = collect(test);
  lines.write("one\n");
  test.mock.timers.tick(LATEST_MS - 1);
  assert.deepEqual(chunks, []);
  test.mock.timers.tick(1);
  assert.deepEqual(chunks, ["one\n"]);
  test.mock.timers.tick(LATEST_MS * 10);
  lines.write("two\n");
  test.mock.timers.tick(LATEST_MS);
  assert.deepEqual(chunks, ["one\n", "two\n"]);
});

it("a flush writes the collected log lines synchronously", (test) => {
  const { lines, chunks, flushes } = collect(test);
  lines.write("one\n");
  lines.flushSync();
  assert.deepEqual([chunks, flushes()], [["one\n"], 1]);
});

const log = JSON.stringify(new URL("../src/server/log.js", import.meta.url).href);

for (const [how, end] of [
  ["ends by itself", ""],
  ["is ended by process.exit", "process.exit(0)"],
  ["is ended by a fatal error", "log.fatal({}, 'last'); process.kill(process.pid, 'SIGKILL')"],
] as const) {
  it(`no log line is lost when the process ${how}`, () => {
    const script = `
      const { createLog } = await import(${log});
      const { log } = createLog("info", false);
      for (let number = 0; number < 1000; number += 1) log.info({ number }, "line");
      ${end}`;
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    const lines = stderr.trimEnd().split("\n");
    const numbers = lines
      .map((line): unknown => JSON.parse(line).number)
      .filter((number) => number !== undefined);
    // A chunk that a thread is writing may arrive after those that the exit flushes: sorted, each is there once.
    assert.deepEqual(
      numbers.map(Number).sort((one, other) => one - other),
      Array.from({ length: 1000 }, (_, number) => number),
    );
  });
}

it("each log line has level, time, process, fields and event as JSON", () => {
  const script = `
    const { createLog } = await import(${log});
    const { log } = createLog("info", false, "3");
    const loop = {};
    loop.loop = loop;
    log.info({ text: 'a "quote"\\n', none: undefined, nothing: null, at: new Date(0), nan: NaN, deep: { list: [1] } }, "fields");
    log.info({}, "no fields");
    log.info({ err: new TypeError("Failed") }, "an error");
    log.info({ loop }, "a loop");
    log.info({ large: 1n }, "a large number");
    log.warn({ number: 1 }, "a warning");
    log.debug({ number: 1 }, "too much");`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const lines = stderr
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));
  const [fields = {}, none = {}, error = {}, , , warning = {}] = lines;
  assert.deepEqual(
    lines.map(({ level, process, msg, time }) => [
      level,
      process,
      msg,
      new Date(String(time)).toISOString() === time,
    ]),
    [
      ["info", "3", "fields", true],
      ["info", "3", "no fields", true],
      ["info", "3", "an error", true],
      ["info", "3", "a loop", true],
      ["info", "3", "a large number", true],
      ["warn", "3", "a warning", true],
    ],
  );
  const { level, time, process: _process, msg, ...own } = fields;
  assert.deepEqual(own, {
    text: 'a "quote"\n',
    nothing: null,
    at: "1970-01-01T00:00:00.000Z",
    nan: null,
    deep: { list: [1] },
  });
  assert.deepEqual(Object.keys(none), ["level", "time", "process", "msg"]);
  assert.equal(Object(error.err).type, "TypeError");
  assert.equal(warning.number, 1);
});
