import { types } from "pg";

const readText: (text: string) => unknown = types.getTypeParser(types.builtins.TIMESTAMPTZ);

/** Of a batch's rows, and of those beside it. */
const REMEMBERED = 64;

/**
 * Lets connections read instants, remembering the last ones: all rows of a statement were changed at one instant, which a
 * row may name three times, and to read its text takes longer than all else in the row.
 */
export function rememberInstants(): void {
  const known = new Map<string, number>();
  types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => {
    const ms = known.get(text);
    if (ms !== undefined) return new Date(ms);
    const read = readText(text);
    // What is no instant (infinity) is no Date either.
    if (read instanceof Date) {
      if (known.size === REMEMBERED) known.clear();
      known.set(text, read.getTime());
    }
    return read;
  });
}
