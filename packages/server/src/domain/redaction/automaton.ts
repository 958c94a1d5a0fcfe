import type { Spelling } from "./spellings.ts";

/**
 * Aho-Corasick search: finds all texts in one pass, in time that depends only on the searched text. A trie in arrays;
 * state 0 is its root, and `fallback` leads from a state to the longest other prefix of a text that it ends with.
 * Written here because existing libraries keep an object per character or are unmaintained, and none can pause.
 */
export interface Automaton {
  readonly code: Uint16Array;
  readonly child: Int32Array;
  readonly sibling: Int32Array;
  readonly depth: Int32Array;
  readonly fallback: Int32Array;
  /** Length of the longest text that ends here and may be part of a word; 0 if none does. */
  readonly longest: Int32Array;
  /** The number of further characters of a text of which only the prefix is searched for. */
  readonly rest: Int32Array;
  /** The state itself, or the next one on its fallback path, at which a text ends that must stand alone; 0 if none. */
  readonly alone: Int32Array;
  /** Whether the state begins a text that may be part of a word. */
  readonly isCertain: Uint8Array;
  /** Children of the root by character, those beyond Latin-1 separately. */
  readonly roots: Int32Array;
  readonly wideRoots: Map<number, number>;
  readonly skips: Skips;
}

/**
 * How far a search without a partial match may skip (Wu-Manber): by the last three characters of the next `window`, the
 * number of positions at which no text can begin.
 */
export interface Skips {
  readonly window: number;
  readonly byHash: Uint8Array;
}

/** Limited by texts of ordinary length; one more must fit into a byte. */
const LONGEST_WINDOW = 64;
const HASHES = 0x10000;

/** Hash of three consecutive characters. A collision only shortens a skip. */
export function hashOf(first: number, second: number, third: number): number {
  return (first * 0x1f35 + second * 0x9d + third) & (HASHES - 1);
}

function createSkips(spellings: readonly Spelling[]): Skips {
  const shortest = spellings.reduce((least, { text }) => Math.min(least, text.length), LONGEST_WINDOW);
  const byHash = new Uint8Array(HASHES).fill(shortest - 2);
  for (const { text } of spellings) {
    for (let at = 0; at + 3 <= shortest; at += 1) {
      const hash = hashOf(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2));
      byHash[hash] = Math.min(byHash[hash] ?? 0, shortest - 3 - at);
    }
  }
  return { window: shortest, byHash };
}

const LATIN1 = 0x100;

/**
 * Only the first characters of a spelling are searched for; a match is removed to the full length. Eight secrets of the
 * maximum length have two million characters in all their spellings, and a trie of those takes half a second and 60 MB.
 */
const LONGEST_SEARCHED = 256;

/** Characters added or linked between two pauses. */
const REST = 8_192;

/** In portions: eight secrets of the maximum length still have a hundred thousand characters to search for. */
export function* createAutomaton(spellings: readonly Spelling[]): Generator<undefined, Automaton, undefined> {
  const size = spellings.reduce((sum, { text }) => sum + Math.min(text.length, LONGEST_SEARCHED), 1);
  const trie: Automaton = {
    code: new Uint16Array(size),
    child: new Int32Array(size),
    sibling: new Int32Array(size),
    depth: new Int32Array(size),
    fallback: new Int32Array(size),
    longest: new Int32Array(size),
    rest: new Int32Array(size),
    alone: new Int32Array(size),
    isCertain: new Uint8Array(size),
    roots: new Int32Array(LATIN1),
    wideRoots: new Map(),
    skips: createSkips(spellings),
  };
  let count = 1;
  let restAt = REST;
  for (const { text, alone } of spellings) {
    const length = Math.min(text.length, LONGEST_SEARCHED);
    if (count >= restAt) {
      restAt = count + REST;
      yield;
    }
    let state = 0;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      let next = childOf(trie, state, code);
      if (next === 0) {
        next = count;
        count += 1;
        addChild(trie, state, next, code);
      }
      if (!alone) trie.isCertain[next] = 1;
      state = next;
    }
    if (alone) trie.alone[state] = state;
    else trie.longest[state] = length;
    trie.rest[state] = Math.max(trie.rest[state] ?? 0, text.length - length);
  }
  yield* link(trie, count);
  return trie;
}

function addChild(trie: Automaton, state: number, child: number, code: number): void {
  trie.code[child] = code;
  trie.depth[child] = (trie.depth[state] ?? 0) + 1;
  trie.sibling[child] = trie.child[state] ?? 0;
  trie.child[state] = child;
  if (state !== 0) return;
  if (code < LATIN1) trie.roots[code] = child;
  else trie.wideRoots.set(code, child);
}

/** Breadth first: a state's fallback is shorter and already known. */
function* link(trie: Automaton, count: number): Generator<undefined, void, undefined> {
  const { code, child, sibling, fallback, longest, rest, alone } = trie;
  const order = new Int32Array(count);
  let filled = 1;
  for (let at = 0; at < filled; at += 1) {
    if (at % REST === REST - 1) yield;
    const state = order[at] ?? 0;
    for (let next = child[state] ?? 0; next !== 0; next = sibling[next] ?? 0) {
      const back = state === 0 ? 0 : step(trie, fallback[state] ?? 0, code[next] ?? 0);
      fallback[next] = back;
      if (longest[next] === 0) longest[next] = longest[back] ?? 0;
      rest[next] = Math.max(rest[next] ?? 0, rest[back] ?? 0);
      if (alone[next] === 0) alone[next] = alone[back] ?? 0;
      order[filled] = next;
      filled += 1;
    }
  }
}

/** The state after one more character. */
export function step(automaton: Automaton, from: number, code: number): number {
  const { code: codes, child, sibling, fallback, roots, wideRoots } = automaton;
  for (let state = from; state !== 0; state = fallback[state] ?? 0) {
    let next = child[state] ?? 0;
    while (next !== 0 && codes[next] !== code) next = sibling[next] ?? 0;
    if (next !== 0) return next;
  }
  if (code < LATIN1) return roots[code] ?? 0;
  return wideRoots.size === 0 ? 0 : (wideRoots.get(code) ?? 0);
}

function childOf({ code: codes, child, sibling, roots, wideRoots }: Automaton, state: number, code: number) {
  if (state === 0) return (code < LATIN1 ? roots[code] : wideRoots.get(code)) ?? 0;
  let next = child[state] ?? 0;
  while (next !== 0 && codes[next] !== code) next = sibling[next] ?? 0;
  return next;
}
