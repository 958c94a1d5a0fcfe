import { Button, Menu } from "@mantine/core";
import { csvOf, type ExportRow } from "../data/csv.ts";
import { printExact } from "../data/exact-json.ts";
import { plural } from "../data/format.ts";
import { Icon } from "./icon.tsx";

/** Stores the rows that a list shows as a file. */
export function ExportMenu<Row>({
  name,
  rows,
  toRow,
}: {
  /** Of the file. */
  readonly name: string;
  readonly rows: readonly Row[];
  readonly toRow: (row: Row) => ExportRow;
}) {
  const made = () => rows.map(toRow);
  return (
    <Menu>
      <Menu.Target>
        <Button disabled={rows.length === 0} rightSection={<Icon name="down" size={12} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{plural(rows.length, "row")}, as shown</Menu.Label>
        <Menu.Item onClick={() => saveFile(`${name}.csv`, "text/csv", csvOf(made()))}>CSV</Menu.Item>
        <Menu.Item onClick={() => saveFile(`${name}.json`, "application/json", printExact(made()))}>
          JSON
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Has the browser store it. */
function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
