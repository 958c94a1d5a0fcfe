/** Longer names are not typos, and comparing them would only cost time. */
const LONGEST_TYPO = 64;

/** The closest known name, or undefined. `maxRetries` means `max_retries`. */
export function closestName(unknown: string, known: readonly string[]): string | undefined {
  if (unknown.length > LONGEST_TYPO) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const distance = haveSameWords(unknown, name) ? 0 : editDistance(plain(unknown), plain(name));
    if (distance <= allowedDistance(name) && distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * `max_retry` is three edits from `max_retries`, while three edits turn most short words into any other. A common
 * prefix of many names does not count.
 */
function allowedDistance(name: string): number {
  const { length } = name.replace(/^BELLHOP_/, "");
  return length <= 4 ? 1 : length <= 7 ? 2 : 3;
}

/** `LIMIT_BODY` means `BODY_LIMIT`. */
function haveSameWords(one: string, other: string): boolean {
  return wordsOf(one) === wordsOf(other);
}

function wordsOf(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_-]/)
    .sort()
    .join(" ");
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

/** Levenshtein's distance, one row at a time; two letters in the wrong order are one edit. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
