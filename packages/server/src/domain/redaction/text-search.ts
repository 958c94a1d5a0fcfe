/** A text to look for. */
export interface Pattern {
  readonly text: string;
  /** Its first characters, which the engine's own search looks for: many times faster than a loop of ours. */
  readonly head: string;
  /** By length of what has matched so far: how much of it still counts when the next character does not match. */
  readonly fallback: Int32Array;
}

/** Half-open: from its first character to the one after its last. */
export type Span = readonly [start: number, end: number];

const HEAD = 8;

export function createPattern(text: string): Pattern {
  const fallback = new Int32Array(text.length + 1);
  for (let index = 1, length = 0; index < text.length; index += 1) {
    while (length > 0 && text.charCodeAt(index) !== text.charCodeAt(length)) length = fallback[length] ?? 0;
    if (text.charCodeAt(index) === text.charCodeAt(length)) length += 1;
    fallback[index + 1] = length;
  }
  return { text, head: text.slice(0, HEAD), fallback };
}

/**
 * Everywhere the pattern stands, matches that touch or overlap taken together.
 *
 * Knuth, Morris and Pratt's search: no character is looked at again, whatever text and pattern are. `indexOf` alone
 * takes the product of both lengths for the worst of them, and here the text comes from a stranger and the pattern may
 * be 8 KiB of the letter a.
 */
export function findAll(text: string, { text: wanted, head, fallback }: Pattern): Span[] {
  const spans: Span[] = [];
  let start = -1;
  let end = -1;
  let index = 0;
  let matched = 0;
  while (true) {
    if (matched === 0) {
      const found = text.indexOf(head, index);
      if (found === -1) break;
      index = found + head.length;
      matched = head.length;
    }
    if (matched === wanted.length) {
      if (index - matched > end) {
        if (end !== -1) spans.push([start, end]);
        start = index - matched;
      }
      end = index;
      matched = fallback[matched] ?? 0;
      continue;
    }
    if (index === text.length) break;
    if (text.charCodeAt(index) === wanted.charCodeAt(matched)) {
      index += 1;
      matched += 1;
    } else {
      matched = fallback[matched] ?? 0;
    }
  }
  if (end !== -1) spans.push([start, end]);
  return spans;
}

/** How many of the last characters before `end` are the beginning of the pattern, but not all of it. */
export function unfinishedMatch(text: string, end: number, { text: wanted, fallback }: Pattern): number {
  let matched = 0;
  for (let index = Math.max(0, end - wanted.length + 1); index < end; index += 1) {
    while (matched > 0 && text.charCodeAt(index) !== wanted.charCodeAt(matched))
      matched = fallback[matched] ?? 0;
    if (text.charCodeAt(index) === wanted.charCodeAt(matched)) matched += 1;
  }
  return matched;
}
