import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Column, renderTable } from "../../src/cli/table.ts";

interface Row {
  readonly name: string;
  readonly count: number;
  readonly id: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "COUNT", of: ({ count }) => String(count), align: "right" },
  { title: "ID", of: ({ id }) => id },
];
const ROWS: readonly Row[] = [
  { name: "Acme", count: 7, id: "team_1" },
  { name: "A longer name", count: 12345678, id: "team_2" },
];

describe("a table on the terminal", () => {
  it("has one aligned line per row if the terminal is wide enough", () => {
    const expected = [
      "NAME              COUNT  ID",
      "Acme                  7  team_1",
      "A longer name  12345678  team_2",
    ];
    assert.equal(renderTable(COLUMNS, ROWS, 80), `${expected.join("\n")}\n`);
    assert.equal(renderTable(COLUMNS, ROWS, undefined), `${expected.join("\n")}\n`);
  });

  it("puts the id on a separate line and cuts the name if it is not", () => {
    const rows = [{ name: "A name that goes on and on", count: 12345678, id: "team_01k9z3mxe5f8hrk3yv5" }];
    const lines = renderTable(COLUMNS, rows, 30).trimEnd().split("\n");
    assert.deepEqual(lines, [
      "NAME                     COUNT",
      "A name that goes on…  12345678",
      "    team_01k9z3mxe5f8hrk3yv5",
    ]);
  });

  it("stays aligned with characters that take two columns, or none", () => {
    const rows = [
      { name: "株式会社", count: 1, id: "a" },
      { name: "Cafe\u0301 ltd", count: 2, id: "b" },
    ];
    assert.equal(
      renderTable(COLUMNS, rows, 80),
      "NAME      COUNT  ID\n株式会社      1  a\nCafe\u0301 ltd      2  b\n",
    );
  });

  it("replaces control characters in a cell, which could drive the terminal", () => {
    const rows = [{ name: "\u001b[31mred\n", count: 1, id: "a" }];
    assert.match(renderTable(COLUMNS, rows, 80), /^\ufffd\[31mred\ufffd/m);
  });
});
