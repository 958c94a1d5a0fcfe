import assert from "node:assert/strict";
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ROOT } from "../places.ts";
import { launch, ready } from "./server-process.ts";

/** The sources as they are cloned, with the packages that are installed here. */
describe("npm start in a fresh checkout", () => {
  let checkout: string;

  before(async () => {
    const home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-checkout-")));
    // Root's data would lie elsewhere if PostgreSQL's user could not enter.
    await chmod(home, 0o755);
    checkout = join(home, "the checkout");
    await mkdir(join(checkout, "packages"), { recursive: true });
    for (const name of ["package.json", "tsconfig.base.json", "scripts"])
      await cp(join(ROOT, name), join(checkout, name), { recursive: true });
    await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
    for (const name of await readdir(join(ROOT, "packages")))
      await cp(join(ROOT, "packages", name), join(checkout, "packages", name), {
        recursive: true,
        filter: (path) => !/\/(node_modules|dist|test)$/.test(path),
      });
  });
  after(() => rm(join(checkout, ".."), { recursive: true, force: true }));

  const start = () =>
    launch({}, checkout, {
      file: process.execPath,
      args: [join(checkout, "scripts", "run.mjs"), "main.js"],
    });

  it("builds server and dashboard at the first start, and nothing at the next", async (test) => {
    const beganMs = performance.now();
    const first = await ready(start());
    const tookMs = performance.now() - beganMs;
    const built = /^Built in .* s\.$/m.exec(first.stderr)?.[0];
    test.diagnostic(
      `npm start in a fresh checkout was ready after ${(tookMs / 1000).toFixed(1)} s. ${built}`,
    );
    assert.match(first.stderr, /^Building the server and the dashboard, /m);
    assert.ok((await stat(join(checkout, "packages/server/dist/page/index.html"))).isFile());
    first.signal("SIGTERM");
    assert.equal(await first.exited, 0);

    const second = await ready(start());
    assert.doesNotMatch(second.stderr, /Buil/);
    second.signal("SIGTERM");
    assert.equal(await second.exited, 0);
  });
});
