import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../places.ts";
import { killLaunched, launch, ready, type ServerProcess } from "./server-process.ts";

const run = promisify(execFile);

/** The sources as they are cloned, with the packages that are installed here. */
describe("npm start in a fresh checkout", () => {
  let checkout: string;

  before(async () => {
    const home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-checkout-")));
    // Root's data would lie elsewhere if PostgreSQL's user could not enter.
    await chmod(home, 0o755);
    checkout = join(home, "the checkout");
    await mkdir(join(checkout, "packages"), { recursive: true });
    const copied = [
      "package.json",
      "tsconfig.base.json",
      "biome.json",
      ".gitignore",
      "openapi.json",
      "scripts",
    ];
    for (const name of [...copied, "simulation/world"])
      await cp(join(ROOT, name), join(checkout, name), { recursive: true });
    await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
    for (const name of await readdir(join(ROOT, "packages")))
      await cp(join(ROOT, "packages", name), join(checkout, "packages", name), {
        recursive: true,
        // The test of the package packs meanwhile, and what it lays beside the sources disappears again.
        filter: (path) =>
          !/\/(node_modules|dist|README\.md|LICENSE|THIRD-PARTY-NOTICES|package\.json\..*)$/.test(path),
      });
  });
  after(async () => {
    killLaunched();
    await rm(join(checkout, ".."), { recursive: true, force: true });
  });

  const start = (settings: Record<string, string>) =>
    launch(settings, checkout, {
      file: process.execPath,
      args: [join(checkout, "scripts", "run.mjs"), "main.js"],
    });

  // The server is built in this checkout anyway: so the skeletons are tried here, which costs no further build.
  const skeletons = { field: "ticket-number", setting: "ticket-limit", feature: "ticket-desk" };
  it("takes the skeletons that npm run new writes of a feature, a field and a setting", async () => {
    const sources: Record<string, number> = {};
    for (const [kind, name] of Object.entries(skeletons)) {
      const { stdout } = await run(process.execPath, ["scripts/new.mjs", kind, name], { cwd: checkout });
      sources[kind] = stdout.split("\n").filter((line) => line.startsWith("  packages/server/src/")).length;
    }
    const again = run(process.execPath, ["scripts/new.mjs", "feature", "ticket-desk"], { cwd: checkout });
    await assert.rejects(again, /features\/ticket-desk exists already/);
    // A field costs four files and its migration.
    assert.deepEqual(sources, { field: 5, setting: 2, feature: 6 });
  });

  it("builds server and dashboard at the first start, and nothing at the next", async (test) => {
    const beganMs = performance.now();
    const first = await ready(start({}));
    const tookMs = performance.now() - beganMs;
    const built = /^Built in .* s\.$/m.exec(first.stderr)?.[0];
    test.diagnostic(
      `npm start in a fresh checkout was ready after ${(tookMs / 1000).toFixed(1)} s. ${built}`,
    );
    assert.match(first.stderr, /^Building the server and the dashboard, /m);
    assert.ok((await stat(join(checkout, "packages/server/dist/page/index.html"))).isFile());
    first.signal("SIGTERM");
    assert.equal(await first.exited, 0);

    const second = await ready(start({ BELLHOP_TICKET_LIMIT: "7" }));
    assert.doesNotMatch(second.stderr, /Buil/);
    await useSkeletons(second);
    second.signal("SIGTERM");
    assert.equal(await second.exited, 0);
  });
});

/** The feature counts tasks, and the field is stored and shown. */
async function useSkeletons({ api, url }: ServerProcess): Promise<void> {
  const request = { queue: "default", webhook_url: url, delay: 3600, ticket_number: "4711" };
  const { id } = (await api("POST", "/v1/tasks", request)).json;
  assert.equal((await api("GET", `/v1/tasks/${id}`)).json.ticket_number, "4711");
  assert.deepEqual((await api("GET", "/v1/ticket-desk")).json, { tasks: 1 });
}
