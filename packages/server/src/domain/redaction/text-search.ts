import { type Automaton, hashOf, step } from "./automaton.ts";

/** Half-open: from its first character to the one after its last. */
export type Span = readonly [start: number, end: number];

/** Work in portions: it pauses after each, so that a long text does not block the event loop. */
export type Portions<T> = Generator<undefined, T, undefined>;

/** Runs all portions at once. */
export function finish<T>(portions: Portions<T>): T {
  while (true) {
    const { done, value } = portions.next();
    if (done === true) return value;
  }
}

/** Characters of a portion: about a millisecond. */
export const PORTION = 16_384;

const WORD = /[A-Za-z0-9+/_-]/;

export interface Found {
  /** In order, with overlapping ones merged. */
  readonly spans: Span[];
  /** The state at each requested position. */
  readonly states: readonly number[];
}

/** All occurrences of the automaton's texts. `places` are ends of prefixes of the text, in order. */
export function* findAll(text: string, automaton: Automaton, places: readonly number[]): Portions<Found> {
  const search = new Search(text, automaton);
  const states: number[] = [];
  for (const place of [...places, text.length]) {
    while (search.runTo(place)) yield;
    states.push(search.state);
  }
  return { spans: search.spans, states };
}

/** A search that pauses. A class instead of a closure, because the engine keeps its fields in registers. */
class Search {
  readonly spans: [number, number][] = [];
  state = 0;
  readonly #text: string;
  readonly #automaton: Automaton;
  #index = 0;

  constructor(text: string, automaton: Automaton) {
    this.#text = text;
    this.#automaton = automaton;
  }

  /** Searches one portion further. Returns false once everything before `end` is searched, as if the text ended there. */
  runTo(end: number): boolean {
    const text = this.#text;
    const automaton = this.#automaton;
    const { longest, rest: rests, alone, depth } = automaton;
    const { window } = automaton.skips;
    const rest = this.#index + PORTION;
    let index = this.#index;
    let state = this.state;
    while (index < end && index < rest) {
      const begun = depth[state] ?? 0;
      // With at most one matched character, restarting there loses nothing.
      if (begun <= 1 && index - begun + window <= end) {
        const start = skip(text, index - begun, end, automaton);
        if (start !== index - begun) {
          index = start;
          state = 0;
          if (index >= end) break;
        }
      }
      state = step(automaton, state, text.charCodeAt(index));
      index += 1;
      if (state === 0) continue;
      const length = longest[state] ?? 0;
      if (length !== 0)
        addSpan(this.spans, index - length, Math.min(index + (rests[state] ?? 0), text.length));
      if (alone[state] !== 0) addAlone(this.spans, text, index, automaton, state);
    }
    this.#index = index;
    this.state = state;
    return index < end;
  }
}

/** The next position from `start` at which a text may begin, or one so near the end that none fits. */
function skip(text: string, start: number, end: number, { skips: { window, byHash } }: Automaton): number {
  let from = start;
  while (from + window <= end) {
    const last = from + window - 1;
    const hash = hashOf(text.charCodeAt(last - 2), text.charCodeAt(last - 1), text.charCodeAt(last));
    const width = byHash[hash] ?? 0;
    if (width === 0) return from;
    from += width;
  }
  return from;
}

/** Overlapping spans are at the end of the list: a later span that ends sooner is inside the one before it. */
function addSpan(spans: [number, number][], start: number, end: number): void {
  let from = start;
  let to = end;
  for (let last = spans.at(-1); last !== undefined && last[1] >= from; last = spans.at(-1)) {
    from = Math.min(from, last[0]);
    to = Math.max(to, last[1]);
    spans.pop();
  }
  spans.push([from, to]);
}

function addAlone(
  spans: [number, number][],
  text: string,
  end: number,
  { alone, depth, fallback }: Automaton,
  from: number,
): void {
  if (WORD.test(text.charAt(end))) return;
  for (let state = alone[from] ?? 0; state !== 0; state = alone[fallback[state] ?? 0] ?? 0) {
    const start = end - (depth[state] ?? 0);
    if (!WORD.test(text.charAt(start - 1))) addSpan(spans, start, end);
  }
}

/** The number of characters before the current state that are a prefix of a text, perhaps all of it. */
export function unfinishedLength({ depth, fallback, isCertain }: Automaton, from: number): number {
  let state = from;
  while (state !== 0 && isCertain[state] === 0) state = fallback[state] ?? 0;
  return depth[state] ?? 0;
}
