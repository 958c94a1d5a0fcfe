import { cutToBytes } from "../result-body.ts";
import { excessText } from "./json-limits.ts";
import { NO_NODE, PathTree } from "./path-tree.ts";
import { type JsonBounds, NO_BOUNDS, scanJson } from "./scan.ts";

export interface FoundValue {
  readonly type: "string" | "number" | "boolean" | "object" | "array";
  /**
   * A string as itself, any other value as its JSON source: a number too large for a double survives. PostgreSQL can
   * store the text.
   */
  readonly text: string;
  /** The text was cut to the requested length. */
  readonly cut: boolean;
}

/** The values found in an answer. */
export type LookedUp =
  /** By path; a path that leads to nothing, or to null, is missing. */
  | { readonly kind: "json"; readonly values: ReadonlyMap<string, FoundValue> }
  | { readonly kind: "not_json" }
  /** It was not read completely. `reason` continues a sentence that begins "The answer …". */
  | { readonly kind: "refused"; readonly reason: string };

/** Texts are cut to this many bytes of UTF-8 by default: a longer one is neither a status nor a URL. */
const USUAL_BYTES = 65_536;

/**
 * The values at dotted paths, as JSON.parse would find them: the last of several members with one name counts, numbers
 * are array indexes, and the empty path is the whole. One pass over the text for any number and length of paths.
 */
export function lookUp(
  text: string,
  paths: readonly string[],
  keepBytes: number = USUAL_BYTES,
  bounds: JsonBounds = NO_BOUNDS,
): LookedUp {
  const tree = new PathTree();
  const nodes = paths.map((path) => tree.add(path === "" ? [] : path.split(".")));
  const places = new Places(tree.size);
  const scanned = scanJson(text, bounds, tree, places);
  if (scanned.kind === "not_json") return scanned;
  if (scanned.kind === "too_much") return { kind: "refused", reason: excessText(scanned.bound, bounds) };

  const isLast = lastWins(tree, places);
  const values = new Map<string, FoundValue>();
  for (const [index, path] of paths.entries()) {
    const node = nodes[index] ?? NO_NODE;
    if (!isLast[node]) continue;
    // The whole text keeps its surrounding whitespace.
    const source = path === "" ? text : text.slice(places.starts[node], places.ends[node]);
    const value = toValue(source, text.charAt(places.starts[node] ?? 0), keepBytes);
    if (value !== null) values.set(path, value);
  }
  return { kind: "json", values };
}

class Places {
  readonly #entered: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;

  constructor(size: number) {
    this.#entered = new Int32Array(size).fill(-1);
    this.starts = new Int32Array(size).fill(-1);
    this.ends = new Int32Array(size);
  }

  entered(node: number, start: number): void {
    this.#entered[node] = start;
  }

  found(node: number, start: number, end: number): void {
    this.starts[node] = start;
    this.ends[node] = end;
  }

  /** The start of the node's last value; -1 if there was none. */
  lastOf(node: number): number {
    return this.#entered[node] ?? -1;
  }
}

/**
 * Whether a node's last value is inside its parent's last value: then JSON.parse would have it too. Nodes come after
 * their parents.
 */
function lastWins(tree: PathTree, places: Places): boolean[] {
  const isLast = [places.lastOf(0) >= 0];
  for (let node = 1; node < tree.size; node += 1) {
    const parent = tree.parentOf(node);
    isLast.push(isLast[parent] === true && places.lastOf(node) > places.lastOf(parent));
  }
  return isLast;
}

function toValue(source: string, first: string, keepBytes: number): FoundValue | null {
  switch (first) {
    case "n":
      return null;
    case '"': {
      const { text, cut } = cutToBytes(String(JSON.parse(source)), keepBytes);
      return { type: "string", text: storable(text), cut };
    }
    case "{":
      return { type: "object", ...cutToBytes(source, keepBytes) };
    case "[":
      return { type: "array", ...cutToBytes(source, keepBytes) };
    case "t":
    case "f":
      return { type: "boolean", text: source, cut: false };
    default:
      return { type: "number", ...cutToBytes(source, keepBytes) };
  }
}

/**
 * An escape (`\u0000`, half a surrogate pair) is valid text but becomes, once parsed, a character that PostgreSQL
 * refuses. The settlement would fail, and the poll would repeat forever.
 */
function storable(text: string): string {
  return text.replace(/[\0\p{Cs}]/gu, "\uFFFD");
}
