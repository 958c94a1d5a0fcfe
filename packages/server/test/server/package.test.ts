import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { SETTINGS } from "../../src/settings.ts";
import { ROOT, SERVER } from "../places.ts";
import { startTestTarget } from "../test-target.ts";
import { API_KEY, launch, ready } from "./server-process.ts";

const NOBODY = 65534;

/**
 * The server's package as npm would publish it, installed into an empty directory beside exactly the packages that it names, as
 * `npm install --omit=dev` would. Those are linked from this checkout instead of fetched, so that the test needs no registry.
 */
describe("the packed package", () => {
  let home: string;
  let installed: string;

  async function install(): Promise<void> {
    await mkdir(installed, { recursive: true });
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts=false", `--pack-destination=${home}`], {
      cwd: SERVER,
    });
    const tarball = (await readdir(home)).find((file) => /^bellhop-\d/.test(file)) ?? "";
    execFileSync("tar", ["xzf", join(home, tarball), "-C", installed, "--strip-components=1"]);
    const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
    for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const own = join(SERVER, "node_modules", needed);
      const there = existsSync(own) ? own : join(ROOT, "node_modules", needed);
      const link = join(home, "node_modules", needed);
      await mkdir(dirname(link), { recursive: true });
      // The packages of other platforms are not there.
      if (existsSync(there)) await symlink(there, link);
    }
  }

  before(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-package-")));
    // Root's data would lie elsewhere if PostgreSQL's user could not enter.
    await chmod(home, 0o755);
    installed = join(home, "node_modules", "bellhop");
    await install();
  });
  after(() => rm(home, { recursive: true, force: true }));

  it("contains the readme, the licence and the built code only", async () => {
    assert.deepEqual((await readdir(installed)).sort(), ["LICENSE", "README.md", "dist", "package.json"]);
    const files = await readdir(join(installed, "dist"), { recursive: true, withFileTypes: true });
    const others = files.filter((file) => file.isFile() && !file.name.endsWith(".js"));
    const built = ["page", "help"].map((name) => join(installed, "dist", name));
    assert.deepEqual(
      others.filter(({ parentPath }) => !built.some((directory) => parentPath.startsWith(directory))),
      [],
    );
    for (const directory of built) assert.ok(existsSync(join(directory, "index.html")), directory);
    assert.ok(!existsSync(join(SERVER, "README.md")), "the copy is removed again");
  });

  it("depends on no other package of Bellhop, and leaves the build unchanged", async () => {
    const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    assert.deepEqual(
      needed.filter((name) => name.startsWith("@bellhop/")),
      [],
    );
    const imports = /(?:from|import\() ?"(@bellhop\/[^"]+)"/;
    const files = await readdir(join(installed, "dist"), { recursive: true });
    for (const file of files.filter((name) => name.endsWith(".js") && !/^(page|help)/.test(name)))
      assert.doesNotMatch(await readFile(join(installed, "dist", file), "utf8"), imports, file);
    assert.match(await readFile(join(SERVER, "dist", "cli", "sdk.js"), "utf8"), /from "@bellhop\/sdk"/);
  });

  it("starts in an empty directory as an unprivileged user, runs a task and stops", async (test) => {
    const target = await startTestTarget();
    test.after(target.close);
    const empty = join(home, "a place of its own");
    await mkdir(empty);
    const bellhop = [join(installed, "dist", "cli", "bellhop.js")];
    const command = await asOrdinaryUser(empty, bellhop);
    const server = await ready(launch({ npm_command: "exec" }, empty, command));
    const env = { PATH: process.env.PATH ?? "", PORT: new URL(server.url).port };
    const create = [...bellhop, "tasks", "create", target.url, "--wait", "--json"];
    const printed = await promisify(execFile)(process.execPath, create, {
      env: { ...env, HOME: home, BELLHOP_URL: server.url, BELLHOP_API_KEY: API_KEY },
    });
    assert.equal(JSON.parse(printed.stdout).status, "completed", printed.stdout);
    const health = await promisify(execFile)(process.execPath, [...bellhop, "health", "--ready"], { env });
    assert.equal(health.stdout, "ok\n");

    server.signal("SIGTERM");
    assert.equal(await server.exited, 0);
    assert.deepEqual(await readdir(empty), [".bellhop"]);
    await assert.rejects(promisify(execFile)(process.execPath, [...bellhop, "health"], { env }), { code: 1 });
  });

  /** As in the container. Only root can become another, and only where the checkout is open to others. */
  async function asOrdinaryUser(cwd: string, args: readonly string[]) {
    const own = { file: process.execPath, args };
    if (process.getuid?.() !== 0) return own;
    const look = `require("fs").accessSync(${JSON.stringify(join(ROOT, "node_modules", "pg"))})`;
    if (spawnSync(process.execPath, ["-e", look], { uid: NOBODY }).status !== 0) return own;
    await chown(cwd, NOBODY, NOBODY);
    const become = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", process.execPath];
    return { file: "setpriv", args: [...become, ...args] };
  }

  it("matches the Dockerfile and compose.yaml", async () => {
    const read = (name: string) => readFile(join(ROOT, name), "utf8");
    const [dockerfile, compose, manifest] = await Promise.all(
      ["Dockerfile", "compose.yaml", "packages/server/package.json"].map(read),
    );
    const help = execFileSync(process.execPath, [join(installed, "dist", "cli", "bellhop.js"), "--help"], {
      encoding: "utf8",
    });
    const bin = JSON.parse(manifest ?? "").bin.bellhop.replace("./", "");
    assert.ok(dockerfile?.includes(`/opt/bellhop/node_modules/bellhop/${bin} /usr/local/bin/bellhop`));
    const commands = [...(dockerfile ?? "").matchAll(/CMD \[(?:"bellhop", )?"(\w+)"\]/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(commands, ["health", "start"]);
    for (const name of commands) assert.match(help, new RegExp(`^ {2}${name}\\b`, "m"));
    for (const [, name = ""] of (dockerfile ?? "").matchAll(/-w (\S+)/g))
      assert.ok(existsSync(join(home, "node_modules", name)), name);

    const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
    const set = [
      ...(dockerfile ?? "").matchAll(/\b(HOST|PORT|BELLHOP_\w+|DATABASE_URL)=/g),
      ...(compose ?? "").matchAll(/^ +(BELLHOP_\w+|DATABASE_URL): /gm),
    ].map(([, name = ""]) => name);
    assert.ok(set.length > 5);
    assert.deepEqual(
      set.filter((name) => !known.has(name)),
      [],
    );
    for (const [, path = ""] of (compose ?? "").matchAll(/"(\.\/[^:"]+):/g))
      assert.ok(existsSync(join(ROOT, path)), path);
    assert.match(await read("ops/nginx.conf"), /server node-1:8787.*\n.*server node-2:8787/);
  });
});
