/** A place that the compiler has noted: lines and columns from 0. */
interface Segment {
  readonly line: number;
  readonly column: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Where the compiler put each place of a source, by the map that it has written. */
export function readSourceMap(mappings: string): Segment[] {
  const segments: Segment[] = [];
  let sourceLine = 0;
  let sourceColumn = 0;
  for (const [line, text] of mappings.split(";").entries()) {
    let column = 0;
    for (const part of text.split(",").filter((each) => each !== "")) {
      const [ahead = 0, , lines = 0, columns = 0] = readNumbers(part);
      column += ahead;
      sourceLine += lines;
      sourceColumn += columns;
      segments.push({ line, column, sourceLine, sourceColumn });
    }
  }
  return segments;
}

/** Numbers of any size, in groups of five bits; the lowest bit of a number is its sign. */
function readNumbers(text: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of text) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if ((bits & 32) !== 0) continue;
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** The offset in the compiled text of a place in the source; null where the compiler has left it out. */
export function compiledOffset(
  segments: readonly Segment[],
  source: string,
  compiled: string,
  offset: number,
): number | null {
  const before = source.slice(0, offset).split("\n");
  const [line, column] = [before.length - 1, before.at(-1)?.length ?? 0];
  let best: Segment | null = null;
  for (const segment of segments) {
    if (segment.sourceLine !== line || segment.sourceColumn > column) continue;
    if (best === null || segment.sourceColumn > best.sourceColumn) best = segment;
  }
  if (best === null) return null;
  const lines = compiled.split("\n").slice(0, best.line);
  return lines.reduce((sum, each) => sum + each.length + 1, 0) + best.column;
}
