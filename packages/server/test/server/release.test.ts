import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../places.ts";

type Check = (name: string, files: ReadonlyMap<string, Buffer>, checkout: string) => string[];

const NEEDED = [
  "LICENSE",
  "README.md",
  "package.json",
  "dist/index.js",
  "dist/index.d.ts",
  "dist/cjs/index.js",
];

/** The packing and the trials on several versions of Node take minutes: `npm run release -- --dry-run`. */
describe("the check of a release", async () => {
  const script = pathToFileURL(join(ROOT, "scripts/release/check.mjs")).href;
  const { checkContents }: { checkContents: Check } = await import(script);
  const check = (files: Record<string, string>) => {
    const whole = { ...Object.fromEntries(NEEDED.map((path) => [path, ""])), ...files };
    const contents = Object.entries(whole).map(([path, text]): [string, Buffer] => [path, Buffer.from(text)]);
    return checkContents("@bellhop/sdk", new Map(contents), "/home/ada/bellhop/");
  };

  it("accepts a package of code, types, licence and readme", () => {
    assert.deepEqual(check({ "dist/next.js": "" }), []);
  });

  it("refuses a package without its licence", () => {
    const files = new Map(NEEDED.slice(1).map((path) => [path, Buffer.of()]));
    assert.deepEqual(checkContents("@bellhop/sdk", files, "/home/ada/bellhop/"), ["LICENSE is missing"]);
  });

  it("refuses source maps, tests and other files", () => {
    const foreign = ["dist/index.js.map", "test/a.test.ts", ".env", "dist/build.tsbuildinfo"];
    const complaints = check(Object.fromEntries(foreign.map((path) => [path, ""])));
    assert.deepEqual(
      complaints,
      foreign.map((path) => `${path} does not belong in it`),
    );
  });

  it("refuses a file that contains a path of the packing machine", () => {
    assert.deepEqual(check({ "dist/a.js": 'import "/home/ada/bellhop/b.js"' }), [
      "dist/a.js names /home/ada/bellhop",
    ]);
  });

  it("publishes nothing without --dry-run, and names the command to run", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/release.mjs"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    assert.equal(status, 2);
    assert.match(stderr, /npm run release -- --dry-run/);
  });
});
