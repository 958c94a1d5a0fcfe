import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../places.ts";

const isRoot = process.getuid?.() === 0;
const STRANGER = 12_345;

describe("the test runner, after an earlier run was killed", () => {
  let parent: string;
  let deadPid: number;

  before(async () => {
    parent = await mkdtemp(join(tmpdir(), "bellhop-leftovers-"));
    await chmod(parent, 0o1777);
    deadPid = spawnSync(process.execPath, ["-e", ""]).pid;
  });
  after(() => rm(parent, { recursive: true, force: true }));

  /** Removes what earlier runs left, as an ordinary user also where the tests run as root. */
  function removeLeftovers(uid = isRoot ? STRANGER : null): { status: number | null; said: string } {
    const module = pathToFileURL(join(ROOT, "scripts/test-scratch.mjs")).href;
    const script = `const { removeLeftovers } = await import(${JSON.stringify(module)});
      ${uid === null ? "" : `process.setgid(${uid}); process.setuid(${uid});`}
      await removeLeftovers(${JSON.stringify(parent)});`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
    return { status, said: stderr.toString() };
  }

  async function leave(name: string, closed: boolean): Promise<string> {
    const directory = join(parent, `bellhop-test-${deadPid}-${name}`);
    await mkdir(join(directory, "package", "lib"), { recursive: true });
    await writeFile(join(directory, "package", "lib", "file"), "");
    if (closed) for (const path of ["package/lib", "package", ""]) await chmod(join(directory, path), 0o500);
    return directory;
  }

  it("removes directories that the run left read-only", async () => {
    await leave("closed", true);
    assert.deepEqual(removeLeftovers(null), { status: 0, said: "" });
    assert.deepEqual(await readdir(parent), []);
  });

  it("names files of another user, and removes the rest", { skip: !isRoot }, async () => {
    const strange = await leave("of-root", false);
    await leave("of-another-run", false);
    const own = join(parent, `bellhop-test-${deadPid}-of-another-run`);
    spawnSync("chown", ["-R", String(STRANGER), own]);

    const { status, said } = removeLeftovers();

    assert.equal(status, 0);
    assert.match(said, /^Left behind, as it could not be removed: .*of-root\/package\/lib\/file: EACCES/);
    assert.deepEqual(await readdir(parent), [`bellhop-test-${deadPid}-of-root`]);
    await rm(strange, { recursive: true });
  });

  it("keeps the directory of a run that is still active", async () => {
    const running = join(parent, `bellhop-test-${process.pid}-running`);
    await mkdir(running);
    assert.deepEqual(removeLeftovers(null), { status: 0, said: "" });
    assert.deepEqual(await readdir(parent), [`bellhop-test-${process.pid}-running`]);
  });
});
