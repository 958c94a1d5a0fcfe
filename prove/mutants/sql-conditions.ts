import { type Item, isWord, type Level, rangeOf } from "./sql-text.ts";

/** A condition's parts, with the `and` or `or` before each of them but the first. */
export interface Condition {
  readonly terms: readonly (readonly Item[])[];
  /** One fewer than terms. */
  readonly links: readonly Item[];
  /** The `and` before the first part, in a text that goes on with another's condition. */
  readonly leading: Item | null;
}

const STARTS = ["where", "having", "on", "when"];
const ENDS =
  "order group limit returning for union except intersect join left right inner cross full where having set then else when on window offset fetch do using from values select insert update delete as , ;".split(
    " ",
  );
/** A text or bracket that begins with one of these is no condition. */
const NO_CONDITION =
  "select with insert update delete values from join left cross order limit set interval create alter drop returning union distinct partition case as on where , ;".split(
    " ",
  );
const COMPARES = [
  "=",
  "<",
  ">",
  "<=",
  ">=",
  "<>",
  "!=",
  "is",
  "in",
  "exists",
  "not",
  "between",
  "like",
  "@>",
];

/** The conditions of a level: after `where`, `on`, `having` and `when`, and a text or bracket that is a condition itself. */
export function conditionsOf({ items, group }: Level): Condition[] {
  const found: Condition[] = [];
  const whole = wholeCondition(items, group !== null);
  if (whole !== null && group?.text !== "case" && group?.text !== "[") found.push(whole);
  for (const [index, item] of items.entries()) {
    if (!isWord(item, ...STARTS) || isWord(items[index + 1], "conflict")) continue;
    if (isWord(item, "on") && isWord(items[index - 1], "distinct")) continue;
    const condition = splitTerms(untilEnd(items, index + 1));
    if (condition.terms.length > 0) found.push(condition);
  }
  return found;
}

function wholeCondition(items: readonly Item[], isBracket: boolean): Condition | null {
  if (items.length === 0 || isWord(items[0], ...NO_CONDITION)) return null;
  const own = untilEnd(items, 0);
  const condition = splitTerms(own);
  const isLinked = condition.links.length > 0 || condition.leading !== null;
  if (isLinked) return condition;
  const compares = !isBracket && own.length === items.length && own.some((item) => isWord(item, ...COMPARES));
  return compares && own.length > 1 ? condition : null;
}

function untilEnd(items: readonly Item[], from: number): Item[] {
  const own: Item[] = [];
  for (const [index, item] of items.entries()) {
    if (index < from) continue;
    const isDistinctFrom = isWord(item, "from") && isWord(items[index - 1], "distinct");
    if (isWord(item, ...ENDS) && !isDistinctFrom) break;
    own.push(item);
  }
  return own;
}

function splitTerms(items: readonly Item[]): Condition {
  const terms: Item[][] = [[]];
  const links: Item[] = [];
  let leading: Item | null = null;
  let isBetween = false;
  for (const item of items) {
    const isLink = isWord(item, "or") || (isWord(item, "and") && !isBetween);
    if (isWord(item, "between")) isBetween = true;
    else if (isWord(item, "and")) isBetween = false;
    if (!isLink) terms.at(-1)?.push(item);
    else if (terms.at(-1)?.length === 0) leading = item;
    else {
      links.push(item);
      terms.push([]);
    }
  }
  // A text that ends with `and`: what follows is in another text.
  if (terms.at(-1)?.length === 0) {
    terms.pop();
    links.pop();
  }
  return { terms, links, leading };
}

/** The condition without one of its parts. A lone part becomes true. */
export function withoutTerm({ terms, links, leading }: Condition, index: number) {
  const { start, end } = rangeOf(terms[index] ?? []);
  const before = index === 0 ? leading : links[index - 1];
  if (before !== null && before !== undefined) return { start: before.start, end, replacement: "" };
  const next = terms[index + 1];
  if (next === undefined) return { start, end, replacement: "true" };
  return { start, end: rangeOf(next).start, replacement: "" };
}
