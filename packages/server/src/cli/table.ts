export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
  readonly align?: "right";
}

const GAP = "  ";
const INDENT = "    ";
const SHORTEST_NAME = 12;

/**
 * Rows as aligned lines. If they are wider than the terminal, the last column (ids) gets its own line, and the first
 * (names) is cut. Without a terminal each row is one full line, for grep.
 */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminalWidth: number | undefined,
): string {
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => columns.map((column) => printable(column.of(row))));
  const widths = columns.map((_, index) =>
    Math.max(...[titles, ...cells].map((line) => widthOf(line[index] ?? ""))),
  );
  const room = terminalWidth ?? Number.POSITIVE_INFINITY;
  const isSplit = total(widths) > room;
  if (isSplit) {
    const [name = 0, ...others] = widths.slice(0, -1);
    widths[0] = Math.max(Math.min(name, room - total(others) - GAP.length), SHORTEST_NAME);
  }
  const render = (line: readonly string[]) => {
    const padded = line.map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align));
    return isSplit
      ? `${padded.slice(0, -1).join(GAP).trimEnd()}\n${INDENT}${line.at(-1) ?? ""}`
      : padded.join(GAP).trimEnd();
  };
  // An id under a row speaks for itself.
  const [head = ""] = render(titles).split("\n");
  return `${[head, ...cells.map(render)].join("\n")}\n`;
}

/** Names come from users who signed up: an escape sequence must not control the operator's terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

function pad(cell: string, width: number, align: "right" | undefined): string {
  const cut = cutTo(cell, width);
  const spaces = " ".repeat(width - widthOf(cut));
  return align === "right" ? spaces + cut : cut + spaces;
}

function cutTo(cell: string, width: number): string {
  if (widthOf(cell) <= width) return cell;
  const letters = [...cell];
  while (widthOf(letters.join("")) > width - 1) letters.pop();
  return `${letters.join("")}…`;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
}

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

/** Terminal columns: two for an East Asian character, none for a combining one. */
function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += /\p{Mark}/u.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1;
  return width;
}
