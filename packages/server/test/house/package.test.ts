import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ROOT, SERVER } from "../places.ts";
import { startTestTarget } from "../test-target.ts";
import { launch, ready } from "./server-process.ts";

/**
 * The package as npm would publish it, installed into an empty directory beside exactly the packages that it names. They
 * are linked from this checkout instead of fetched, so that the test needs no registry.
 */
describe("the packed package", () => {
  let home: string;
  let installed: string;

  before(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-package-")));
    // Root's data would lie elsewhere if PostgreSQL's user could not enter.
    await chmod(home, 0o755);
    installed = join(home, "node_modules", "@bellhop", "server");
    await mkdir(installed, { recursive: true });
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts=false", `--pack-destination=${home}`], {
      cwd: SERVER,
    });
    const [tarball = ""] = (await readdir(home)).filter((name) => name.endsWith(".tgz"));
    execFileSync("tar", ["xzf", join(home, tarball), "-C", installed, "--strip-components=1"]);
    const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const own = join(SERVER, "node_modules", name);
      const source = existsSync(own) ? own : join(ROOT, "node_modules", name);
      const link = join(home, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      // The packages of other platforms are not there.
      if (existsSync(source)) await symlink(source, link);
    }
  });
  after(() => rm(home, { recursive: true, force: true }));

  it("has the readme, the licence and what runs, and nothing else", async () => {
    assert.deepEqual((await readdir(installed)).sort(), ["LICENSE", "README.md", "dist", "package.json"]);
    const files = await readdir(join(installed, "dist"), { recursive: true, withFileTypes: true });
    const others = files.filter((file) => file.isFile() && !file.name.endsWith(".js"));
    const page = join(installed, "dist", "page");
    assert.deepEqual(
      others.filter(({ parentPath }) => !parentPath.startsWith(page)),
      [],
    );
    assert.ok(existsSync(join(page, "index.html")));
    assert.ok(!existsSync(join(SERVER, "README.md")), "the copy is removed again");
  });

  it("starts in an empty directory, makes a call and stops", async () => {
    const target = await startTestTarget();
    const empty = join(home, "a place of its own");
    await mkdir(empty);
    const command = { file: process.execPath, args: [join(installed, "dist", "cli", "bellhop.js")] };
    const server = await ready(launch({ npm_command: "exec" }, empty, command));
    const { json } = await server.api("POST", "/v1/tasks", { queue: "default", webhook_url: target.url });

    assert.equal((await server.ended(json.id)).status, "completed");
    server.signal("SIGTERM");
    assert.equal(await server.exited, 0);
    assert.deepEqual(await readdir(empty), [".bellhop"]);
    await target.close();
  });
});
