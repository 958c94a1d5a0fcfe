import { PORTION, type Portions } from "./text-search.ts";

/** A text with its escapes resolved, and the map back: character i begins at `at[i]` of the source. */
export interface Reading {
  readonly text: string;
  /** One longer than the text: its last entry is the length of the source. Null if the text is the source itself. */
  readonly at: Int32Array | null;
}

const ESCAPED = /[%\\&]/;
const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const SPACE = 0x20;

/** Characters after a backslash; others keep their backslash. */
const LETTERS: ReadonlyMap<string, number> = new Map(
  Object.entries({ b: 8, f: 12, n: 10, r: 13, t: 9, '"': 0x22, "'": 0x27, "\\": BACKSLASH, "/": 0x2f }),
);

const ENTITY = /&(?:#([0-9]{1,5})|#[xX]([0-9a-fA-F]{1,4})|(amp|lt|gt|quot|apos));/y;
const ENTITIES: Readonly<Record<string, number>> = {
  amp: AMPERSAND,
  lt: 0x3c,
  gt: 0x3e,
  quot: 0x22,
  apos: 0x27,
};

const UNFINISHED = /(?:%[0-9a-fA-F]?|\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?|&#?[0-9a-zA-Z]{0,5})$/;
const LONGEST_UNFINISHED = 7;

/** JSON nested three times occurs in practice. */
const DEEPEST = 3;

/** In forms a plus is a space. Readings treat the two alike. */
export function foldPlus(text: string): string {
  return text.replaceAll("+", " ");
}

/**
 * The text itself, then with its escapes resolved up to three times; then each of them without the gaps between UTF-16
 * characters and base64 lines.
 */
export function* readingsOf(text: string): Portions<Reading[]> {
  const readings = yield* resolvedReadings(text);
  const gapless: Reading[] = [];
  for (const reading of readings) if (GAP.test(reading.text)) gapless.push(yield* withoutGaps(reading));
  return [...readings, ...gapless];
}

export function* resolvedReadings(text: string): Portions<Reading[]> {
  let last: Reading = { text, at: null };
  const readings = [last];
  while (readings.length <= DEEPEST && (ESCAPED.test(last.text) || last.text.includes("+"))) {
    const next = yield* resolve(last);
    if (next.text === last.text) break;
    readings.push(next);
    last = next;
  }
  return readings;
}

/** A cut text may end inside an escape: the length of that part. */
export function unfinishedEscape(text: string): number {
  return UNFINISHED.exec(text.slice(-LONGEST_UNFINISHED))?.[0].length ?? 0;
}

/**
 * Resolves the escapes of URLs, forms, JSON and HTML in one pass, because real texts mix them. Without regular
 * expressions, which take ten times as long for a text full of escapes.
 */
function* resolve({ text, at: before }: Reading): Portions<Reading> {
  const codes = new Uint16Array(text.length);
  const at = new Int32Array(text.length + 1);
  let length = 0;
  let restAt = PORTION;
  for (let index = 0; index < text.length; ) {
    if (index >= restAt) {
      restAt = index + PORTION;
      yield;
    }
    at[length] = before?.[index] ?? index;
    let code = text.charCodeAt(index);
    let width = 1;
    if (code === PERCENT || code === BACKSLASH || code === AMPERSAND) {
      const found = readEscape(text, index, code);
      if (found !== 0) {
        code = found % WIDTH;
        width = Math.floor(found / WIDTH);
      }
    }
    codes[length] = code === PLUS ? SPACE : code;
    length += 1;
    index += width;
  }
  at[length] = before?.[text.length] ?? text.length;
  return { text: toText(codes.subarray(0, length)), at: at.subarray(0, length + 1) };
}

/** A line break or a NUL; stored answers have U+FFFD in place of NUL. */
const GAP = /[\r\n\0\ufffd]/;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const REPLACEMENT = 0xfffd;

function* withoutGaps({ text, at: before }: Reading): Portions<Reading> {
  const codes = new Uint16Array(text.length);
  const at = new Int32Array(text.length + 1);
  let length = 0;
  for (let from = 0; from < text.length; from += PORTION) {
    const to = Math.min(from + PORTION, text.length);
    for (let index = from; index < to; index += 1) {
      const code = text.charCodeAt(index);
      if (code === LINE_FEED || code === CARRIAGE_RETURN || code === 0 || code === REPLACEMENT) continue;
      codes[length] = code;
      at[length] = before?.[index] ?? index;
      length += 1;
    }
    yield;
  }
  at[length] = before?.[text.length] ?? text.length;
  return { text: toText(codes.subarray(0, length)), at: at.subarray(0, length + 1) };
}

/** An escape is encoded as its width times this plus the character; 0 is none. */
const WIDTH = 0x10000;

function readEscape(text: string, index: number, kind: number): number {
  if (kind === PERCENT) return numbered(text, index + 1, 2, 3);
  if (kind === AMPERSAND) return readEntity(text, index);
  const letter = text.charAt(index + 1);
  if (letter === "u") return numbered(text, index + 2, 4, 6);
  if (letter === "x") return numbered(text, index + 2, 2, 4);
  const code = LETTERS.get(letter);
  return code === undefined ? 0 : 2 * WIDTH + code;
}

function readEntity(text: string, index: number): number {
  ENTITY.lastIndex = index;
  const match = ENTITY.exec(text);
  if (match === null) return 0;
  const [whole, decimal, hex, name = ""] = match;
  const code = hex === undefined ? Number(decimal ?? ENTITIES[name]) : Number.parseInt(hex, 16);
  return code < WIDTH ? whole.length * WIDTH + code : 0;
}

function numbered(text: string, from: number, digits: number, width: number): number {
  let value = 0;
  for (let index = from; index < from + digits; index += 1) {
    const digit = hexDigit(text.charCodeAt(index));
    if (digit === -1) return 0;
    value = value * 16 + digit;
  }
  return width * WIDTH + value;
}

/** -1 for anything else, the end of the text (NaN) included. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** The number of arguments that a call accepts on any engine. */
const CHUNK = 8192;

function toText(codes: Uint16Array): string {
  const parts: string[] = [];
  for (let from = 0; from < codes.length; from += CHUNK) {
    // A spread would copy them one by one.
    parts.push(Reflect.apply(String.fromCharCode, null, codes.subarray(from, from + CHUNK)));
  }
  return parts.join("");
}
