import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readConfig } from "../../src/config.ts";
import { coresAllowed, processesFor } from "../../src/processes/count.ts";

const GIB = 2 ** 30;

describe("the default number of processes of a server", () => {
  it("is one on up to three cores, then one for every two, and at most eight", () => {
    for (const [cores, processes] of [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 2],
      [8, 4],
      [16, 8],
      [96, 8],
    ] as const)
      assert.equal(processesFor({ cores, memoryBytes: 256 * GIB }, true), processes, `${cores} cores`);
  });

  it("is limited by the memory", () => {
    assert.equal(processesFor({ cores: 16, memoryBytes: 3.5 * GIB }, true), 3);
    assert.equal(processesFor({ cores: 16, memoryBytes: GIB / 2 }, true), 1);
  });

  it("is one on an external database", () => {
    assert.equal(processesFor({ cores: 16, memoryBytes: 256 * GIB }, false), 1);
  });

  it("follows the CPU limits of its cgroup and all parent cgroups", async () => {
    const groups = await mkdtemp(join(tmpdir(), "bellhop-groups-"));
    const unit = join(groups, "system.slice", "bellhop.service");
    await mkdir(unit, { recursive: true });
    const file = join(groups, "self");
    await writeFile(file, "0::/system.slice/bellhop.service\n");
    assert.equal(coresAllowed(file, groups), Number.POSITIVE_INFINITY);
    await writeFile(join(unit, "cpu.max"), "max 100000\n");
    assert.equal(coresAllowed(file, groups), Number.POSITIVE_INFINITY);
    await writeFile(join(groups, "system.slice", "cpu.max"), "150000 100000\n");
    assert.equal(coresAllowed(file, groups), 1.5);
    await writeFile(join(unit, "cpu.max"), "50000 100000\n");
    assert.equal(coresAllowed(file, groups), 0.5);
    assert.equal(coresAllowed(join(groups, "nowhere"), join(groups, "nowhere")), Number.POSITIVE_INFINITY);
    await rm(groups, { recursive: true });
  });

  it("is overridden by BELLHOP_PROCESSES, from 1 to 64", () => {
    assert.equal(readConfig({}).processes, null);
    assert.equal(readConfig({ BELLHOP_PROCESSES: "3" }).processes, 3);
    for (const wrong of ["0", "65", "all", "1.5"])
      assert.throws(
        () => readConfig({ BELLHOP_PROCESSES: wrong }),
        /BELLHOP_PROCESSES must be a whole number/,
      );
  });
});
