import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { describeConnectError } from "../src/outbound/connect-failure.ts";
import { createFileWatch, readFileLimit, warnOfLowFileLimit } from "../src/server/open-files.ts";

const failure = (code: string) => Object.assign(new Error(`connect ${code}`), { code, syscall: "connect" });

function watchLog() {
  const lines: { event: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const log = {
    warn: (fields: Readonly<Record<string, unknown>>, event: string) => void lines.push({ event, fields }),
  };
  return { lines, log };
}

describe("the limit of open files", () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "bellhop-limits-"));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const limitIn = async (line: string) => {
    const path = join(directory, "limits");
    await writeFile(
      path,
      `Limit                     Soft Limit           Hard Limit           Units\n${line}\n`,
    );
    return readFileLimit(path);
  };

  it("is the soft limit, and null if there is none or it cannot be read", async () => {
    assert.equal(
      await limitIn("Max open files            256                  4096                 files"),
      256,
    );
    assert.equal(
      await limitIn("Max open files            unlimited            unlimited            files"),
      null,
    );
    assert.equal(
      await limitIn("Max processes             256                  256                  processes"),
      null,
    );
    assert.equal(readFileLimit(join(directory, "not-there")), null);
  });

  it("causes a warning at the start when it is below 4,096", () => {
    const { lines, log } = watchLog();
    warnOfLowFileLimit(log, 4_096);
    warnOfLowFileLimit(log, null);
    assert.equal(lines.length, 0);
    warnOfLowFileLimit(log, 4_095);
    assert.deepEqual(
      lines.map(({ event, fields }) => [event, fields.limit, fields.recommended]),
      [["files.limit_low", 4_095, 4_096]],
    );
    assert.match(String(lines[0]?.fields.set), /LimitNOFILE=.*ulimit -n/);
  });

  it("causes a warning once a minute while connections fail for lack of a file descriptor", () => {
    const { lines, log } = watchLog();
    let now = 5;
    const files = createFileWatch(log, 256, () => now);
    files.connectFailed(failure("ECONNREFUSED"));
    assert.equal(lines.length, 0);

    files.connectFailed(failure("EMFILE"));
    now += 59_999;
    files.connectFailed(failure("ENFILE"));
    assert.deepEqual(
      lines.map(({ event, fields }) => [event, fields.code, fields.limit]),
      [["files.exhausted", "EMFILE", 256]],
    );
    now += 1;
    files.connectFailed(failure("ENFILE"));
    assert.deepEqual(lines[1]?.fields.code, "ENFILE");
  });

  it("is named in the error of a call that got no file descriptor", () => {
    assert.equal(
      describeConnectError(failure("EMFILE"), "api.example.com", "https:").message,
      "Host api.example.com was not called: this server has no file descriptor left (EMFILE)",
    );
  });
});
