import { types } from "pg";

const readText: (text: string) => unknown = types.getTypeParser(types.builtins.TIMESTAMPTZ);

/**
 * Lets connections read instants, remembering the last: all rows of a statement were changed at one instant, which a row
 * may name three times, and to read its text takes longer than all else in the row.
 */
export function rememberInstants(): void {
  let lastText = "";
  let lastMs = Number.NaN;
  types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => {
    if (text === lastText) return new Date(lastMs);
    const read = readText(text);
    // What is no instant (infinity) is no Date either.
    if (read instanceof Date) {
      lastText = text;
      lastMs = read.getTime();
    }
    return read;
  });
}
