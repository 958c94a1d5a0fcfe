/** Matches every element of an array. */
export const ANY = Symbol("any element");

export type PathStep = string | typeof ANY;

/** No node: the value is on no path. */
export const NO_NODE = -1;
export const ROOT = 0;

const INDEX = /^(?:0|[1-9]\d{0,8})$/;

interface PathNode {
  readonly parent: number;
  readonly byKey: Map<string, number>;
  /** The same children by their index in an array, where their key is one. */
  readonly byIndex: Map<number, number>;
  any: number;
  longestKey: number;
  isWanted: boolean;
}

/**
 * Paths into JSON as one tree, so that one pass finds all of them. The cost of a pass depends on neither the number of paths nor
 * their length.
 */
export class PathTree {
  readonly #nodes: PathNode[] = [newNode(NO_NODE)];

  get size(): number {
    return this.#nodes.length;
  }

  /** Returns the node at the end of the path. */
  add(path: readonly PathStep[]): number {
    let at = ROOT;
    for (const step of path) at = this.#child(at, step);
    this.#at(at).isWanted = true;
    return at;
  }

  parentOf(node: number): number {
    return this.#at(node).parent;
  }

  isWanted(node: number): boolean {
    return this.#at(node).isWanted;
  }

  /** `source` is a key as it was written, without its quotes. */
  memberOf(node: number, source: string): number {
    const { byKey, longestKey } = this.#at(node);
    if (byKey.size === 0) return NO_NODE;
    if (!source.includes("\\")) return source.length > longestKey ? NO_NODE : (byKey.get(source) ?? NO_NODE);
    // An escape has at most six characters.
    return source.length > longestKey * 6 ? NO_NODE : (byKey.get(JSON.parse(`"${source}"`)) ?? NO_NODE);
  }

  elementOf(node: number, index: number): number {
    const { any, byIndex } = this.#at(node);
    return any !== NO_NODE ? any : byIndex.size === 0 ? NO_NODE : (byIndex.get(index) ?? NO_NODE);
  }

  #child(parent: number, step: PathStep): number {
    const node = this.#at(parent);
    const known = step === ANY ? node.any : (node.byKey.get(step) ?? NO_NODE);
    if (known !== NO_NODE) return known;
    const child = this.#nodes.push(newNode(parent)) - 1;
    if (step === ANY) {
      node.any = child;
      return child;
    }
    node.byKey.set(step, child);
    node.longestKey = Math.max(node.longestKey, step.length);
    if (INDEX.test(step)) node.byIndex.set(Number(step), child);
    return child;
  }

  #at(node: number): PathNode {
    const found = this.#nodes[node];
    if (found === undefined) throw new Error(`The path tree has no node ${node}`);
    return found;
  }
}

function newNode(parent: number): PathNode {
  return { parent, byKey: new Map(), byIndex: new Map(), any: NO_NODE, longestKey: 0, isWanted: false };
}
