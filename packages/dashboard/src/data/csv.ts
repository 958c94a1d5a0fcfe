/** Rows of a list as a file: what the reader sees, for a spreadsheet or a program. */

export type ExportRow = Readonly<Record<string, unknown>>;

/** By the columns of all rows. Objects are JSON in their cell. */
export function csvOf(rows: readonly ExportRow[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const line = (cells: readonly unknown[]) => cells.map(cellOf).join(",");
  return `${[line(names), ...rows.map((row) => line(names.map((name) => row[name])))].join("\r\n")}\r\n`;
}

/** A text that a spreadsheet would take for a formula gets a quote before it: names and errors are other people's. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
