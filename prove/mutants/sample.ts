import type { Mutant } from "./mutant.ts";

/**
 * As many mutants as asked for, evenly: from each folder in turn, and in a folder from each operator in turn. Those that are
 * refused make room for the next. The same seed and the same mutants give the same sample; a larger sample begins with the
 * smaller one.
 */
export function drawSample(
  mutants: readonly Mutant[],
  options: {
    readonly size: number;
    readonly seed: number;
    readonly isRefused?: (mutant: Mutant) => boolean;
  },
): Mutant[] {
  const { size, seed, isRefused = () => false } = options;
  const random = randomOf(seed);
  const folders = [...groupsOf(mutants, ({ file }) => file.split("/")[0] ?? "").values()].map((folder) =>
    inTurn(
      shuffle([...groupsOf(folder, ({ operator }) => operator).values()], random).map((same) =>
        shuffle(same, random),
      ),
    ),
  );
  const drawn: Mutant[] = [];
  for (const mutant of inTurn(folders)) {
    if (drawn.length >= size) break;
    if (!isRefused(mutant)) drawn.push(mutant);
  }
  return drawn;
}

function groupsOf(mutants: readonly Mutant[], key: (mutant: Mutant) => string): Map<string, Mutant[]> {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of [...mutants].sort(byName)) {
    const group = groups.get(key(mutant));
    if (group === undefined) groups.set(key(mutant), [mutant]);
    else group.push(mutant);
  }
  return groups;
}

/** Not by the rules of a language, which differ between machines. */
function byName(one: Mutant, other: Mutant): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

/** The first of each, then the second of each, and so on. */
function inTurn<Value>(lists: readonly (readonly Value[])[]): Value[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }).flatMap((_, index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  );
}

function shuffle<Value>(values: readonly Value[], random: () => number): Value[] {
  const left = [...values];
  return values.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
}

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
