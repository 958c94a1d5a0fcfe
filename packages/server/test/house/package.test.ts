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
 * The packages as npm would publish them, installed into an empty directory beside exactly the packages that they name, as
 * `npm install --omit=dev` would. Those are linked from this checkout instead of fetched, so that the test needs no registry.
 */
describe("the packed package", () => {
  let home: string;
  let installed: string;

  async function install(name: string): Promise<void> {
    const source = join(ROOT, "packages", name);
    const place = join(home, "node_modules", "@bellhop", name);
    await mkdir(place, { recursive: true });
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts=false", `--pack-destination=${home}`], {
      cwd: source,
    });
    const tarball = (await readdir(home)).find((file) => file.startsWith(`bellhop-${name}-`)) ?? "";
    execFileSync("tar", ["xzf", join(home, tarball), "-C", place, "--strip-components=1"]);
    const manifest = JSON.parse(await readFile(join(place, "package.json"), "utf8"));
    for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const own = join(source, "node_modules", needed);
      const there = existsSync(own) ? own : join(ROOT, "node_modules", needed);
      const link = join(home, "node_modules", needed);
      await mkdir(dirname(link), { recursive: true });
      // The packages of other platforms are not there, and ours was installed before.
      if (existsSync(there) && !existsSync(link)) await symlink(there, link);
    }
  }

  before(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-package-")));
    // Root's data would lie elsewhere if PostgreSQL's user could not enter.
    await chmod(home, 0o755);
    installed = join(home, "node_modules", "@bellhop", "server");
    await install("sdk");
    await install("server");
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

  it("starts in an empty directory as an ordinary user, makes a call for the SDK, is healthy and stops", async (test) => {
    const target = await startTestTarget();
    test.after(target.close);
    const empty = join(home, "a place of its own");
    await mkdir(empty);
    const bellhop = [join(installed, "dist", "cli", "bellhop.js")];
    const command = await asOrdinaryUser(empty, bellhop);
    const server = await ready(launch({ npm_command: "exec" }, empty, command));
    const script = `import { createBellhop } from "@bellhop/sdk";
      const { tasks } = createBellhop({ url: "${server.url}", apiKey: "${API_KEY}" });
      const { id } = await tasks.create({ queue: "default", webhookUrl: "${target.url}" });
      console.log((await tasks.wait(id)).status);`;
    const run = { cwd: home, encoding: "utf8" } as const;
    const printed = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], run);
    assert.equal(printed.stdout, "completed\n");
    const env = { PATH: process.env.PATH ?? "", PORT: new URL(server.url).port };
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

  it("is what the files for containers install and run", async () => {
    const read = (name: string) => readFile(join(ROOT, name), "utf8");
    const [dockerfile, compose, manifest] = await Promise.all(
      ["Dockerfile", "compose.yaml", "packages/server/package.json"].map(read),
    );
    const help = execFileSync(process.execPath, [join(installed, "dist", "cli", "bellhop.js"), "--help"], {
      encoding: "utf8",
    });
    const bin = JSON.parse(manifest ?? "").bin.bellhop.replace("./", "");
    assert.ok(
      dockerfile?.includes(`/opt/bellhop/node_modules/@bellhop/server/${bin} /usr/local/bin/bellhop`),
    );
    const commands = [...(dockerfile ?? "").matchAll(/CMD \[(?:"bellhop", )?"(\w+)"\]/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(commands, ["health", "start"]);
    for (const name of commands) assert.match(help, new RegExp(`^ {2}${name}\\b`, "m"));
    for (const [, name = ""] of (dockerfile ?? "").matchAll(/-w @bellhop\/(\w+)/g))
      assert.ok(existsSync(join(home, "node_modules", "@bellhop", name)), name);

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
