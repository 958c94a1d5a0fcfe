import { types } from "pg";

const readText: (text: string) => unknown = types.getTypeParser(types.builtins.TIMESTAMPTZ);

/** Of a batch's rows, and of those beside it. */
const REMEMBERED = 64;

/**
 * Parses timestamps with a cache: all rows of a statement changed at the same time, which a row may contain three
 * times, and parsing it costs more than the rest of the row.
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
