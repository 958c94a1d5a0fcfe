import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SETTINGS } from "../../src/settings.ts";
import { ROOT } from "../places.ts";

const UNIT = join(ROOT, "ops/bellhop.service");
/** The longest that a stop takes beyond BELLHOP_STOP_GRACE. */
const AFTER_GRACE_SECONDS = 5;
const isInstalled = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe("ops/bellhop.service", () => {
  it("passes systemd-analyze verify without a complaint", {
    skip: !isInstalled && "systemd-analyze is not installed",
  }, async (test) => {
    const dir = await mkdtemp(join(tmpdir(), "bellhop-unit-"));
    test.after(() => rm(dir, { recursive: true, force: true }));
    const unit = await readFile(UNIT, "utf8");
    const path = join(dir, "bellhop.service");
    // It complains of a program that is not installed, and Bellhop is not.
    await writeFile(path, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", path], {
      encoding: "utf8",
    });
    // It may have something to say about other units of this machine.
    const complaints = stderr.split("\n").filter((line) => line.includes("bellhop.service"));
    assert.deepEqual([complaints, status], [[], 0]);
  });

  it("runs the installed command with known settings and a sufficient stop timeout", async () => {
    const unit = await readFile(UNIT, "utf8");
    assert.match(unit, /^ExecStart=\S+\/node_modules\/\.bin\/bellhop start$/m);
    const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
    const set = [...unit.matchAll(/^Environment=(BELLHOP_\w+)=/gm)].map(([, name = ""]) => name);
    assert.deepEqual(set, ["BELLHOP_DATA_DIR"]);
    assert.ok(set.every((name) => known.has(name)));
    const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
    assert.ok(stopSeconds > Number(SETTINGS.stopGraceSeconds.fallback) + AFTER_GRACE_SECONDS);
  });
});
