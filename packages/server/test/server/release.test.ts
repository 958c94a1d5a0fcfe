import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../places.ts";

type Check = (name: string, files: ReadonlyMap<string, Buffer>, checkout: string) => string[];

type Package = { readonly name: string; readonly version: string };
type Licence = Package & { readonly identifier: string; readonly text: string };
type Sbom = { readonly components: object[]; readonly dependencies: object[] };
interface Notices {
  readonly writeNotices: (licences: readonly Licence[]) => string;
  readonly readNotices: (text: string) => Package[];
}

const LICENCE = { name: "left-pad", version: "1.0.0", identifier: "MIT", text: "Do as you like." };
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
  const load = (name: string) => import(pathToFileURL(join(ROOT, "scripts", name)).href);
  const { checkContents }: { checkContents: Check } = await load("release/check.mjs");
  const { keepShipped }: { keepShipped: (sbom: object, shipped: readonly Package[]) => Sbom } =
    await load("release/sbom.mjs");
  const { readNotices, writeNotices }: Notices = await load("notices.mjs");
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

  it("keeps in the SBOM what is shipped, and refuses a package that the lockfile does not have", () => {
    const component = (name: string) => ({ purl: `pkg:npm/${name}@1.0.0`, "bom-ref": `${name}@1.0.0` });
    const dependencies = [
      { ref: "bellhop@1.0.0", dependsOn: ["fastify@1.0.0", "tsx@1.0.0"] },
      { ref: "tsx@1.0.0", dependsOn: [] },
    ];
    const whole = {
      metadata: { component: component("workspace") },
      components: ["bellhop", "fastify", "tsx"].map(component),
      dependencies,
    };
    const shipped = ["bellhop", "fastify"].map((name) => ({ name, version: "1.0.0" }));
    const kept = keepShipped(whole, shipped);
    assert.deepEqual(kept.components, ["bellhop", "fastify"].map(component));
    assert.deepEqual(kept.dependencies, [{ ref: "bellhop@1.0.0", dependsOn: ["fastify@1.0.0"] }]);
    const unknown = { name: "@types/pg", version: "2.0.0" };
    assert.throws(() => keepShipped(whole, [unknown]), /does not have pkg:npm\/%40types\/pg@2\.0\.0/);
  });

  it("writes the licences of packages, which readers of the file find again", () => {
    const licences = ["zod", "@fastify/error"].map((name) => ({ ...LICENCE, name }));
    const found = readNotices(writeNotices(licences));
    assert.deepEqual(
      found.map(({ name, version }) => `${name} ${version}`),
      ["@fastify/error 1.0.0", "zod 1.0.0"],
    );
  });

  it("refuses a licence that is not permissive, and one without its text", () => {
    assert.throws(() => writeNotices([{ ...LICENCE, identifier: "AGPL-3.0" }]), /not known to be permissive/);
    assert.throws(() => writeNotices([{ ...LICENCE, text: "" }]), /has no text of its licence/);
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
