import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csvOf } from "../src/data/csv.ts";

describe("csvOf", () => {
  it("has a column for every field, and quotes commas, quotes and line breaks", () => {
    const rows = [
      { id: 1, error: 'He said "no", twice' },
      { id: 2, tags: ["a", "b"] },
    ];
    assert.equal(csvOf(rows), 'id,error,tags\r\n1,"He said ""no"", twice",\r\n2,,"[""a"",""b""]"\r\n');
  });

  it("prefixes text that a spreadsheet would read as a formula, and keeps numbers", () => {
    assert.equal(csvOf([{ a: "=HYPERLINK(1)", b: -1, c: "@x" }]), "a,b,c\r\n'=HYPERLINK(1),-1,'@x\r\n");
  });
});
