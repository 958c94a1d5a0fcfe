/** A bug that is put in on purpose, to see whether something catches it. */
export interface Plant {
  readonly name: string;
  /** Below packages/server/src. */
  readonly file: string;
  /** Must occur exactly once. */
  readonly find: string;
  readonly replace: string;
  /** What the bug breaks, as docs/guarantees.md or docs/api.md promise it. */
  readonly breaks: string;
  /** The tests of this part, below packages/server/test: they run before simulation and chaos. */
  readonly tests: readonly string[];
}

/** The planted source. Throws where the text of the plant is not there exactly once: the code has changed. */
export function plantInto(source: string, { name, file, find, replace }: Plant): string {
  const count = source.split(find).length - 1;
  if (count !== 1)
    throw new Error(`The plant "${name}" is stale: its text is ${count} times in ${file}:\n${find}`);
  return source.replace(find, () => replace);
}
