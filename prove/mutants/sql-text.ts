/** A word, a sign, a text or a hole (`${…}`) of SQL, by its place in the source. */
export interface Token {
  readonly kind: "word" | "sign" | "text" | "number" | "hole";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** What stands in brackets, or from `case` to `end`. */
export interface Group {
  readonly kind: "group";
  /** `(`, `[` or `case`. */
  readonly text: string;
  readonly items: readonly Item[];
  readonly start: number;
  readonly end: number;
}
export type Item = Token | Group;

interface Range {
  readonly start: number;
  readonly end: number;
}

const LEXEMES =
  /(?<space>\s+|--[^\n]*|\/\*[\s\S]*?\*\/)|(?<word>[a-zA-Z_]\w*|\$\d+|"[^"]*")|(?<number>\d+(?:\.\d+)?)|(?<sign>->>|->|#>>|#>|=>|:=|<=|>=|<>|!=|::|\|\||@>|<@|&&|\.\.|[^\s\w])/y;

/** The tokens of a range of the source, which is SQL but for its holes. */
export function readTokens(source: string, { start, end }: Range, holes: readonly Range[]): Token[] {
  const tokens: Token[] = [];
  const holeAt = (offset: number) => holes.find((hole) => hole.start === offset);
  let at = start;
  while (at < end) {
    const hole = holeAt(at);
    const { kind, until } = hole !== undefined ? { kind: "hole" as const, until: hole.end } : lexeme(at);
    if (kind !== null) tokens.push({ kind, text: source.slice(at, until), start: at, end: until });
    at = until;
  }
  return tokens;

  function lexeme(from: number): { kind: Token["kind"] | null; until: number } {
    if (source[from] === "'") return { kind: "text", until: endOfText(from) };
    LEXEMES.lastIndex = from;
    const { space, word, number } = LEXEMES.exec(source)?.groups ?? {};
    const next = holes.find((hole) => hole.start > from)?.start ?? end;
    const until = Math.min(LEXEMES.lastIndex || from + 1, next, end);
    if (space !== undefined) return { kind: null, until };
    return { kind: word !== undefined ? "word" : number !== undefined ? "number" : "sign", until };
  }

  function endOfText(from: number): number {
    let at = from + 1;
    while (at < end && source[at] !== "'") at = holeAt(at)?.end ?? at + 1;
    return Math.min(at + 1, end);
  }
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ["(", ")"],
  ["[", "]"],
  ["case", "end"],
]);

/** The same with what stands in brackets as one. A part of a statement may close what it did not open. */
export function groupTokens(tokens: readonly Token[]): Item[] {
  let at = 0;
  function read(closing: string | undefined): { items: Item[]; end: number } {
    const items: Item[] = [];
    while (at < tokens.length) {
      const token = tokens[at] as Token;
      at += 1;
      if (isWord(token, closing ?? "")) return { items, end: token.end };
      const inner = CLOSING.get(token.text.toLowerCase());
      if (inner === undefined || token.kind === "text") {
        items.push(token);
      } else {
        const { items: within, end } = read(inner);
        items.push({
          kind: "group",
          text: token.text.toLowerCase(),
          items: within,
          start: token.start,
          end,
        });
      }
    }
    return { items, end: tokens.at(-1)?.end ?? 0 };
  }
  return read(undefined).items;
}

export function isWord(item: Item | undefined, ...words: string[]): boolean {
  return (
    item !== undefined &&
    item.kind !== "group" &&
    item.kind !== "text" &&
    words.includes(item.text.toLowerCase())
  );
}

/** Each list of items once: the whole, and what stands in each bracket. */
export function* levelsOf(items: readonly Item[], group: Group | null = null): Generator<Level> {
  yield { items, group };
  for (const item of items) if (item.kind === "group") yield* levelsOf(item.items, item);
}

export interface Level {
  readonly items: readonly Item[];
  /** Null for the whole. */
  readonly group: Group | null;
}

/** Items between signs of this kind. Empty parts are left out. */
export function splitAt(items: readonly Item[], sign: string): Item[][] {
  const parts: Item[][] = [[]];
  for (const item of items) {
    if (isWord(item, sign)) parts.push([]);
    else parts.at(-1)?.push(item);
  }
  return parts.filter((part) => part.length > 0);
}

export function rangeOf(items: readonly Item[]): Range {
  return { start: items[0]?.start ?? 0, end: items.at(-1)?.end ?? 0 };
}
