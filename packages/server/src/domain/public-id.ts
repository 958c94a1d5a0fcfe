import { invalid, mustBe } from "./complaint.ts";

/** Public ids: `task_…`. The row holds the UUID; the prefix names the kind. */
export type IdPrefix =
  | "task"
  | "tok"
  | "key"
  | "user"
  | "team"
  | "app"
  | "auth"
  | "inv"
  | "ses"
  | "evt"
  | "bulk"
  | "sch"
  | "wh"
  | "whd"
  | "alr"
  | "alm";

/** Crockford's base 32 in lower case: it sorts like the bits, and no letter of it looks like a digit. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const HEX_DIGITS = "0123456789abcdef";
/** 26 digits hold 130 bits, two more than a UUID. */
const LENGTH = 26;
const SPARE_BITS = 2;
const UUID_LENGTH = 36;
const HYPHEN = 0x2d;

/** A shared buffer: every task has several ids, and an array for each would be most of the cost. */
const idCodes = new Array<number>(LENGTH).fill(0);
const uuidCodes = new Array<number>(UUID_LENGTH).fill(HYPHEN);

const DIGIT_CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
const DIGIT_VALUES = valuesOf(DIGITS);
const HEX_CODES = Uint8Array.from(HEX_DIGITS, (digit) => digit.charCodeAt(0));
const HEX_VALUES = valuesOf(HEX_DIGITS);

/** `uuid` in the spelling of the database: lower case, with hyphens. */
export function formatId(prefix: IdPrefix, uuid: string): string {
  let length = 0;
  let bits = 0;
  let held = SPARE_BITS;
  for (let at = 0; at < UUID_LENGTH; at += 1) {
    if (isHyphenPlace(at)) continue;
    bits = (bits << 4) | (HEX_VALUES[uuid.charCodeAt(at)] ?? 0);
    held += 4;
    if (held < 5) continue;
    held -= 5;
    idCodes[length] = DIGIT_CODES[(bits >> held) & 31] ?? 0;
    length += 1;
  }
  return `${prefix}_${String.fromCharCode(...idCodes)}`;
}

/** The UUID; null for any spelling other than that of `formatId`. */
export function parseId(prefix: IdPrefix, text: string): string | null {
  const start = prefix.length + 1;
  if (text.length !== start + LENGTH || text[prefix.length] !== "_" || !text.startsWith(prefix)) return null;
  const codes: number[] = [];
  let bits = 0;
  let held = -SPARE_BITS;
  for (let at = start; at < text.length; at += 1) {
    const value = DIGIT_VALUES[text.charCodeAt(at)] ?? -1;
    // The first digit has only three bits.
    if (value < 0 || (at === start && value > 7)) return null;
    bits = (bits << 5) | value;
    held += 5;
    while (held >= 4) {
      held -= 4;
      if (isHyphenPlace(codes.length)) codes.push(HYPHEN);
      codes.push(HEX_CODES[(bits >> held) & 15] ?? 0);
    }
  }
  return String.fromCharCode(...codes);
}

/** The UUID in a page's cursor, which is the id of the last entry before it. */
export function readCursor(prefix: IdPrefix, cursor: string | null): string | null {
  const id = cursor === null ? null : parseId(prefix, cursor);
  if (cursor !== null && id === null) throw invalid([mustBe("cursor", "the nextCursor of a page")]);
  return id;
}

function isHyphenPlace(at: number): boolean {
  return at === 8 || at === 13 || at === 18 || at === 23;
}

/** By character code; -1 for other characters. */
function valuesOf(digits: string): Int8Array {
  const values = new Int8Array(128).fill(-1);
  for (let value = 0; value < digits.length; value += 1) values[digits.charCodeAt(value)] = value;
  return values;
}

/** Per millisecond. It has 26 bits and starts in the first quarter, so that 50 million ids fit. */
const COUNTER_END = 2 ** 26;
/** Three for the start of the counter, six at the end of the id. */
const RANDOM_BYTES = 9;
/** Random bytes are fetched for this many ids at once, because a fetch costs more than the rest of an id. */
const POOLED_IDS = 256;

/**
 * Creates UUIDs of version 7 (RFC 9562): the millisecond, a counter with a random start, 48 random bits. Those of one
 * source rise strictly, even if the clock is set back: their time is then frozen until the clock has caught up.
 */
export function createUuidSource(deps: {
  readonly nowMs: () => number;
  readonly fillRandom: (bytes: Uint8Array) => void;
}): () => string {
  const bytes = new Uint8Array(16);
  const fields = new DataView(bytes.buffer);
  const pool = new Uint8Array(POOLED_IDS * RANDOM_BYTES);
  let used = pool.length;
  let lastMs = 0;
  let counter = COUNTER_END;

  return () => {
    if (used === pool.length) {
      deps.fillRandom(pool);
      used = 0;
    }
    const nowMs = deps.nowMs();
    counter += 1;
    if (nowMs > lastMs || counter >= COUNTER_END) {
      lastMs = Math.max(nowMs, lastMs + 1);
      counter = ((pool[used] ?? 0) << 16) | ((pool[used + 1] ?? 0) << 8) | (pool[used + 2] ?? 0);
    }
    fields.setUint16(0, lastMs / 2 ** 32);
    fields.setUint32(2, lastMs);
    fields.setUint32(6, 0x7000_8000 | ((counter >> 14) << 16) | (counter & 0x3fff));
    for (let at = 10; at < 16; at += 1) bytes[at] = pool[used + at - 7] ?? 0;
    used += RANDOM_BYTES;
    return formatUuid(bytes);
  };
}

/** The hyphens are already in place. */
function formatUuid(bytes: Uint8Array): string {
  let at = 0;
  for (const byte of bytes) {
    if (isHyphenPlace(at)) at += 1;
    uuidCodes[at] = HEX_CODES[byte >> 4] ?? 0;
    uuidCodes[at + 1] = HEX_CODES[byte & 15] ?? 0;
    at += 2;
  }
  return String.fromCharCode(...uuidCodes);
}
