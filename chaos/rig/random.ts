/** Chance that a seed decides, so that a run's faults and requests can be asked for again. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** An integer, both ends included. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** A key, each as likely as its weight says. */
  weighted<Key extends string>(weights: Readonly<Partial<Record<Key, number>>>): Key;
  /** Another source, so that what one part draws does not change what another gets. */
  fork(): Random;
}

/** The generator is mulberry32: 32 bits of state are enough for this. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick(items) {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error("There is nothing to pick from");
      return item;
    },
    weighted<Key extends string>(weights: Readonly<Partial<Record<Key, number>>>): Key {
      const entries = Object.entries(weights) as [Key, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      throw new Error("There is nothing to pick from");
    },
    fork: () => createRandom(between(0, 2 ** 32 - 1)),
  };
}
