import { conditionsOf, withoutTerm } from "./sql-conditions.ts";
import { type Item, isWord, type Level, levelsOf, rangeOf, splitAt } from "./sql-text.ts";

/** A change of SQL, by its place in the source. */
export interface SqlChange {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const SWAPS: readonly (readonly [operator: string, one: string, other: string])[] = [
  ["boundary", "<", "<="],
  ["boundary", ">", ">="],
  ["true-false", "true", "false"],
];
/** Functions whose names are exchanged. */
const FUNCTIONS: readonly (readonly [operator: string, one: string, other: string])[] = [
  ["other-clock", "now", "clock_timestamp"],
  ["least-greatest", "least", "greatest"],
  ["least-greatest", "min", "max"],
];
const TIME_COLUMN = /_(at|until|since)$/;

/** All changes of an SQL text, each by itself. */
export function changesOfSql(items: readonly Item[], source: string): SqlChange[] {
  const operators = [
    conditions,
    signs,
    functions,
    locks,
    orders,
    coalesces,
    assignments,
    nots,
    sums,
    storedTimes,
  ];
  return [...levelsOf(items)].flatMap((level) => operators.flatMap((operator) => operator(level, source)));
}

function conditions(level: Level): SqlChange[] {
  return conditionsOf(level).flatMap((condition) => [
    ...condition.terms.map((_, index) => ({ operator: "drop-condition", ...withoutTerm(condition, index) })),
    ...condition.links.map((link) => put("and-or", link, isWord(link, "and") ? "or" : "and")),
  ]);
}

function signs({ items }: Level): SqlChange[] {
  return items.flatMap((item) =>
    SWAPS.flatMap(([operator, one, other]) => {
      if (isWord(item, one)) return [put(operator, item, other)];
      return isWord(item, other) ? [put(operator, item, one)] : [];
    }),
  );
}

function functions({ items }: Level): SqlChange[] {
  return items.flatMap((item, index) => {
    if (items[index + 1]?.kind !== "group" || isWord(items[index - 1], ".")) return [];
    return FUNCTIONS.flatMap(([operator, one, other]) => {
      if (isWord(item, one)) return [put(operator, item, other)];
      return isWord(item, other) ? [put(operator, item, one)] : [];
    });
  });
}

function locks({ items }: Level): SqlChange[] {
  return items.flatMap((item, index) => {
    if (!isWord(item, "for") || !isWord(items[index + 1], "update", "no", "share", "key")) return [];
    const rest = items.slice(index + 1);
    const isOther = (each: Item) =>
      !isWord(each, "update", "no", "key", "share", "of", "skip", "locked", "nowait", ",") &&
      each.kind !== "word";
    const past = rest.findIndex((each) => isOther(each) || isWord(each, "returning", "limit"));
    const own = past === -1 ? rest : rest.slice(0, past);
    const skip = own.findIndex((each) => isWord(each, "skip"));
    const whole = put("drop-lock", { start: item.start, end: rangeOf(own).end }, "");
    return skip === -1 ? [whole] : [whole, put("drop-skip-locked", rangeOf(own.slice(skip, skip + 2)), "")];
  });
}

function orders({ items }: Level): SqlChange[] {
  return items.flatMap((item, index) => {
    if (!isWord(item, "order") || !isWord(items[index + 1], "by")) return [];
    const rest = items.slice(index);
    const past = rest.findIndex((each) =>
      isWord(each, "limit", "offset", "for", "rows", "range", "union", "returning", "on"),
    );
    return [put("drop-order", rangeOf(past === -1 ? rest : rest.slice(0, past)), "")];
  });
}

function coalesces({ items }: Level, source: string): SqlChange[] {
  return items.flatMap((item, index) => {
    const group = items[index + 1];
    if (!isWord(item, "coalesce") || group?.kind !== "group") return [];
    const [first, second] = splitAt(group.items, ",").map(rangeOf);
    if (first === undefined || second === undefined) return [];
    const [one, between, other] = [
      source.slice(first.start, first.end),
      source.slice(first.end, second.start),
      source.slice(second.start, second.end),
    ];
    const whole = { start: first.start, end: second.end };
    return [put("swap-coalesce", whole, other + between + one)];
  });
}

function assignments({ items }: Level): SqlChange[] {
  return setsOf(items).flatMap((set) =>
    set.length < 2
      ? []
      : set.map((each, index) => {
          const next = set[index + 1];
          const { start, end } = rangeOf(each);
          return next === undefined
            ? put("drop-assignment", { start: rangeOf(set[index - 1] ?? each).end, end }, "")
            : put("drop-assignment", { start, end: rangeOf(next).start }, "");
        }),
  );
}

/** The assignments after each `set`. */
function setsOf(items: readonly Item[]): Item[][][] {
  return items.flatMap((item, index) => {
    if (!isWord(item, "set")) return [];
    const rest = items.slice(index + 1);
    const past = rest.findIndex(
      (each, at) =>
        isWord(each, "from", "where", "returning", ";", "union") && !isWord(rest[at - 1], "distinct"),
    );
    const set = splitAt(past === -1 ? rest : rest.slice(0, past), ",");
    return set.every((each) => isWord(each[1], "=")) ? [set] : [];
  });
}

function nots({ items }: Level): SqlChange[] {
  return items.flatMap((item, index) => {
    const next = items[index + 1];
    if (isWord(item, "is") && isWord(next, "null") && next !== undefined)
      return [put("is-null", next, "not null")];
    if (!isWord(item, "not") || next === undefined || isWord(next, "materialized")) return [];
    if (isWord(items[index - 1], "is"))
      return isWord(next, "null") ? [put("is-null", { start: item.start, end: next.end }, "null")] : [];
    return isWord(next, "null") ? [] : [put("drop-not", { start: item.start, end: next.start }, "")];
  });
}

/** Between two values: a sign before a number is no sum. */
function sums({ items }: Level): SqlChange[] {
  return items.flatMap((item, index) => {
    const before = items[index - 1];
    const isValue =
      before !== undefined &&
      before.kind !== "sign" &&
      !isWord(before, "then", "else", "select", "set", "and", "or", "when", "limit");
    if (!isValue || !isWord(item, "+", "-")) return [];
    return [put("plus-minus", item, isWord(item, "+") ? "-" : "+")];
  });
}

/** In conditions and assignments: now() for a stored time, and the nearest other stored time for now(). */
function storedTimes(level: Level, source: string): SqlChange[] {
  const values = [
    ...conditionsOf(level).flatMap(({ terms }) => terms),
    ...setsOf(level.items).flatMap((set) => set.map((each) => each.slice(2))),
  ];
  const stored = values.map(timesOf);
  return values.flatMap((value, index) => {
    const others = stored.filter((_, other) => other !== index).flat();
    const nows = value.flatMap((item, at) => {
      const group = value[at + 1];
      return isWord(item, "now") && group?.kind === "group" ? [{ start: item.start, end: group.end }] : [];
    });
    return [
      ...(stored[index] ?? []).map((time) => put("now-for-stored", time, "now()")),
      ...nows.flatMap((now) => {
        const [nearest] = others.sort(
          (one, other) => Math.abs(one.start - now.start) - Math.abs(other.start - now.start),
        );
        return nearest === undefined
          ? []
          : [put("stored-for-now", now, source.slice(nearest.start, nearest.end))];
      }),
    ];
  });
}

/** Columns like `t.due_at`. */
function timesOf(items: readonly Item[]): { start: number; end: number }[] {
  return items.flatMap((item, index) => {
    const [dot, table] = [items[index - 1], items[index - 2]];
    const isColumn = item.kind === "word" && TIME_COLUMN.test(item.text) && isWord(dot, ".");
    return isColumn && table?.kind === "word" ? [{ start: table.start, end: item.end }] : [];
  });
}

function put(
  operator: string,
  { start, end }: { start: number; end: number },
  replacement: string,
): SqlChange {
  return { operator, start, end, replacement };
}
