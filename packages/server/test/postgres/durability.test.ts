import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findDangers } from "../../src/postgres/durability.ts";

describe("the durability check", () => {
  const safe = {
    versionNum: 140_000,
    version: "14.0",
    fsync: "on",
    fullPageWrites: "on",
    synchronousCommit: "on",
  };

  it("accepts PostgreSQL 14 and every synchronous_commit that waits for the disk", () => {
    for (const synchronousCommit of ["on", "local", "remote_write", "remote_apply"]) {
      assert.deepEqual(findDangers({ ...safe, synchronousCommit }), []);
    }
  });

  it("refuses a PostgreSQL older than version 14", () => {
    assert.deepEqual(findDangers({ ...safe, versionNum: 130_022, version: "13.22" }), [
      "PostgreSQL 13.22 is too old for Bellhop: use PostgreSQL 14 or newer.",
    ]);
  });

  it("names the setting that is unsafe, for each of three", () => {
    assert.match(findDangers({ ...safe, fsync: "off" }).join(), /^PostgreSQL runs with fsync = off/);
    assert.match(findDangers({ ...safe, fullPageWrites: "off" }).join(), /with full_page_writes = off/);
    assert.match(findDangers({ ...safe, synchronousCommit: "off" }).join(), /with synchronous_commit = off/);
  });
});
