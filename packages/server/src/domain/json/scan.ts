import { NO_NODE, type PathTree, ROOT } from "./path-tree.ts";

/** Limits of untrusted JSON besides its length. Infinity is no limit. */
export interface JsonBounds {
  readonly depth: number;
  /** Members of all its objects together. */
  readonly keys: number;
  /** Elements of all its arrays together. */
  readonly elements: number;
  /** Characters of one string or key, as it was written. */
  readonly stringLength: number;
}

export const NO_BOUNDS: JsonBounds = {
  depth: Number.POSITIVE_INFINITY,
  keys: Number.POSITIVE_INFINITY,
  elements: Number.POSITIVE_INFINITY,
  stringLength: Number.POSITIVE_INFINITY,
};

export type Scanned =
  | { readonly kind: "json"; readonly keys: number; readonly elements: number }
  | { readonly kind: "not_json" }
  | { readonly kind: "too_much"; readonly bound: keyof JsonBounds };

/** Receives the positions of values on the paths of a tree. */
export interface ScanListener {
  /** A value on a path, or at its end, begins. */
  entered(node: number, start: number): void;
  /** A wanted value has ended. */
  found(node: number, start: number, end: number): void;
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LOWER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

const NOT_JSON: Scanned = { kind: "not_json" };
const NO_END = -1;

/**
 * Scans JSON without building it: one pass, no recursion, and memory for one entry per nesting level. It accepts
 * exactly the texts that JSON.parse accepts, and stops when a limit is exceeded.
 */
export function scanJson(
  text: string,
  bounds: JsonBounds,
  tree: PathTree | null,
  listener: ScanListener | null,
): Scanned {
  const outer = new Levels();
  let keys = 0;
  let elements = 0;
  let at = 0;
  /** The node of the next value. */
  let node = tree === null ? NO_NODE : ROOT;
  /** The innermost open container; the others are in `outer`. Separate variables, because they change with every value. */
  let depth = 0;
  let isObject = false;
  let openNode = NO_NODE;
  let openStart = 0;
  let index = 0;

  for (;;) {
    at = skipSpace(text, at);
    const start = at;
    const code = text.charCodeAt(at);
    if (node !== NO_NODE) listener?.entered(node, start);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (depth >= bounds.depth) return tooMuch("depth");
      if (depth > 0) outer.push(isObject, openNode, openStart, index);
      depth += 1;
      isObject = code === OPEN_OBJECT;
      openNode = node;
      openStart = start;
      index = -1;
      at = skipSpace(text, at + 1);
    } else {
      const end = scalarEnd(text, at, code);
      if (end === NO_END) return NOT_JSON;
      if (code === QUOTE && end - at - 2 > bounds.stringLength) return tooMuch("stringLength");
      if (node !== NO_NODE && tree?.isWanted(node)) listener?.found(node, start, end);
      at = skipSpace(text, end);
    }

    // The open container ends here, or continues with another member or element.
    for (;;) {
      if (depth === 0) return at === text.length ? { kind: "json", keys, elements } : NOT_JSON;
      const next = text.charCodeAt(at);
      if (next === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (openNode !== NO_NODE && tree?.isWanted(openNode)) listener?.found(openNode, openStart, at + 1);
        at = skipSpace(text, at + 1);
        depth -= 1;
        if (depth > 0) {
          isObject = outer.isObject();
          openNode = outer.node();
          openStart = outer.start();
          index = outer.index();
          outer.pop();
        }
        continue;
      }
      // No comma directly after the opening bracket.
      if (index >= 0) {
        if (next !== COMMA) return NOT_JSON;
        at = skipSpace(text, at + 1);
      }
      index += 1;
      node = openNode;
      if (!isObject) {
        elements += 1;
        if (elements > bounds.elements) return tooMuch("elements");
        if (node !== NO_NODE) node = tree?.elementOf(node, index) ?? NO_NODE;
        break;
      }
      const keyEnd = stringEnd(text, at);
      if (keyEnd === NO_END) return NOT_JSON;
      keys += 1;
      if (keys > bounds.keys) return tooMuch("keys");
      if (keyEnd - at - 2 > bounds.stringLength) return tooMuch("stringLength");
      if (node !== NO_NODE) node = tree?.memberOf(node, text.slice(at + 1, keyEnd - 1)) ?? NO_NODE;
      at = skipSpace(text, keyEnd);
      if (text.charCodeAt(at) !== COLON) return NOT_JSON;
      at += 1;
      break;
    }
  }
}

function tooMuch(bound: keyof JsonBounds): Scanned {
  return { kind: "too_much", bound };
}

/** The outer containers. Stored in arrays: an object per level would help an attacker. */
class Levels {
  #depth = 0;
  #isObject = new Uint8Array(32);
  /** Of each level: node, start, index. */
  #figures = new Int32Array(3 * 32);

  push(isObject: boolean, node: number, start: number, index: number): void {
    if (this.#depth === this.#isObject.length) {
      this.#isObject = grown(this.#isObject, new Uint8Array(2 * this.#depth));
      this.#figures = grown(this.#figures, new Int32Array(6 * this.#depth));
    }
    const at = 3 * this.#depth;
    this.#isObject[this.#depth] = isObject ? 1 : 0;
    this.#figures[at] = node;
    this.#figures[at + 1] = start;
    this.#figures[at + 2] = index;
    this.#depth += 1;
  }

  pop(): void {
    this.#depth -= 1;
  }

  isObject(): boolean {
    return this.#isObject[this.#depth - 1] === 1;
  }

  node(): number {
    return this.#figures[3 * this.#depth - 3] ?? NO_NODE;
  }

  start(): number {
    return this.#figures[3 * this.#depth - 2] ?? 0;
  }

  index(): number {
    return this.#figures[3 * this.#depth - 1] ?? 0;
  }
}

function grown<T extends Uint8Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

function scalarEnd(text: string, at: number, code: number): number {
  if (code === QUOTE) return stringEnd(text, at);
  if (code === MINUS || (code >= ZERO && code <= NINE)) return numberEnd(text, at);
  for (const word of ["true", "false", "null"]) if (text.startsWith(word, at)) return at + word.length;
  return NO_END;
}

function stringEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) return NO_END;
  let at = start + 1;
  const { length } = text;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return NO_END;
    if (code !== BACKSLASH) at += 1;
    else {
      const width = escapeWidth(text, at + 1);
      if (width === NO_END) return NO_END;
      at += width;
    }
  }
  return NO_END;
}

/** The width of an escape, by the character after its backslash. */
function escapeWidth(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case QUOTE:
    case BACKSLASH:
    case SLASH:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return 2;
    case LOWER_U:
      for (let digit = at + 1; digit <= at + 4; digit += 1) {
        if (!isHexDigit(text.charCodeAt(digit))) return NO_END;
      }
      return 6;
    default:
      return NO_END;
  }
}

/** False for the end of the text, which is NaN. */
function isHexDigit(code: number): boolean {
  if (code >= ZERO && code <= NINE) return true;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66;
}

function numberEnd(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  // No digit may follow a leading zero.
  const whole = text.charCodeAt(at) === ZERO ? at + 1 : digitsEnd(text, at);
  if (whole === at) return NO_END;
  at = whole;
  if (text.charCodeAt(at) === DOT) {
    const end = digitsEnd(text, at + 1);
    if (end === at + 1) return NO_END;
    at = end;
  }
  if ((text.charCodeAt(at) | 0x20) !== 0x65) return at;
  const sign = text.charCodeAt(at + 1);
  const digits = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
  const end = digitsEnd(text, digits);
  return end === digits ? NO_END : end;
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (!(code >= ZERO && code <= NINE)) return at;
    at += 1;
  }
}
