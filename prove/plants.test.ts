import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SERVER } from "../packages/server/test/places.ts";
import { plantInto } from "./plant.ts";
import { PLANTS } from "./plants.ts";

describe("the catalogue of planted bugs", () => {
  it("has at least 40, each under a name of its own", () => {
    assert.ok(PLANTS.length >= 40);
    assert.equal(new Set(PLANTS.map(({ name }) => name)).size, PLANTS.length);
  });

  for (const plant of PLANTS) {
    it(`has a plant whose text is in the source once: ${plant.name}`, () => {
      const source = readFileSync(join(SERVER, "src", plant.file), "utf8");
      assert.notEqual(plantInto(source, plant), source);
      for (const test of plant.tests) assert.ok(existsSync(join(SERVER, "test", test)), test);
    });
  }

  it("refuses a plant whose text is not there, or is there twice", () => {
    const plant = { name: "p", file: "f.ts", find: "one", replace: "two", breaks: "", tests: [] };
    assert.equal(plantInto("a one b", plant), "a two b");
    assert.throws(() => plantInto("none", { ...plant, find: "all" }), /stale: its text is 0 times in f\.ts/);
    assert.throws(() => plantInto("one one", plant), /stale: its text is 2 times in f\.ts/);
  });
});
