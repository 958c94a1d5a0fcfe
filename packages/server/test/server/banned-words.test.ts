import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../places.ts";

// Not a word of this file may be banned itself: they are put together here.
const BANNED = ["who", "ever"].join("");
const PLACE = ["hou", "se"].join("");

describe("the check for banned words", () => {
  let find: (name: string, text: string) => readonly string[];

  before(async () => {
    const module = await import(pathToFileURL(join(ROOT, "scripts/banned-words.mjs")).href);
    find = module.findBannedWords;
  });

  it("reports the file, the line and the replacement of a banned word", () => {
    const [complaint = "", ...others] = find("docs/a.md", `fine\nIt ends for ${BANNED} waits.`);
    assert.match(complaint, /^docs\/a\.md:2: .* use: /);
    assert.deepEqual(others, []);
  });

  it("reports a banned word in a file name", () => {
    assert.equal(find(`src/open-${PLACE}.ts`, "").length, 1);
  });

  it("accepts the word as part of another word, and in files that never change", () => {
    assert.deepEqual(find("docs/a.md", `an in-${PLACE} service, a ware${PLACE}`), []);
    assert.deepEqual(find("CHANGELOG.md", BANNED), []);
    assert.deepEqual(find("docs/decisions/0001-a.md", BANNED), []);
  });
});
