/** One spelling of a secret. */
export interface Spelling {
  readonly text: string;
  /** So short that it occurs by chance: it counts only as a whole word. */
  readonly alone: boolean;
}

/** A shorter text cannot be distinguished from ordinary text and is not a secret. */
export const SHORTEST_SECRET = 4;

/**
 * From this length on an encoded secret does not occur by chance in a megabyte of base64 or hexadecimal, and a part of
 * a secret is worth hiding.
 */
const CERTAIN = 8;

/** `Bearer <credential>`, `Basic <credential>` and similar: targets repeat the credential without the scheme. */
const SCHEME = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) +(\S.*)$/;

/** All spellings of a secret and of its secret parts. */
export function spellingsOf(value: string): Spelling[] {
  const spellings = new Map<string, Spelling>();
  const add = (text: string, alone: boolean) => {
    const known = spellings.get(text);
    if (known === undefined || known.alone) spellings.set(text, { text, alone });
  };
  for (const part of secretParts(value)) {
    for (const text of readings(part).flatMap(escapings)) add(text, false);
    for (const bytes of byteForms(part)) {
      for (const text of encodings(bytes)) add(text, bytes.length < CERTAIN);
    }
    if (part.length < CERTAIN) continue;
    for (const bytes of [utf16(part, false), utf16(part, true)]) {
      for (const text of base64Of(bytes)) add(text, false);
    }
    // Without the last byte, which is 0 or belongs to the next character: then it matches both byte orders.
    for (const text of hexOf(utf16(part, false).slice(0, -1))) add(text, false);
    // Its bytes above 127 are not valid UTF-8 between those of UTF-16, and are lost with the gaps.
    const ascii = part.replace(/[^\0-\x7f]/g, "");
    if (ascii.length >= CERTAIN) add(ascii, false);
  }
  return [...spellings.values()];
}

/** No shorter text contains a spelling of the secret; 0 if that cannot be said. */
export function shortestSpelling(value: string): number {
  const parts = secretParts(value);
  const isSimple = parts.every((part) => isAscii(part) && !LOOKS_ESCAPED.test(part));
  return isSimple ? Math.min(...parts.map(({ length }) => length)) : 0;
}

const LOOKS_ESCAPED = /[%\\&]/;

function secretParts(value: string): string[] {
  const [, scheme = "", credential = ""] = SCHEME.exec(value) ?? [];
  const parts = [value, credential];
  if (scheme.toLowerCase() === "basic") parts.push(...passwordOf(credential));
  return parts.filter((part, index) => part.length >= (index === 0 ? SHORTEST_SECRET : CERTAIN));
}

/** Some services use the name as the key, with an empty or dummy password. */
function passwordOf(credential: string): string[] {
  const pair = decodeBase64(credential);
  const colon = pair?.indexOf(":") ?? -1;
  if (pair === null || colon === -1) return [];
  const password = pair.slice(colon + 1);
  return [pair, password.length >= CERTAIN ? password : pair.slice(0, colon)];
}

function decodeBase64(text: string): string | null {
  try {
    return atob(text);
  } catch {
    return null;
  }
}

/**
 * Headers are bytes, and a target may read those above 127 as Latin-1 or UTF-8. A wrong reading still shows the rest of
 * the secret.
 */
function readings(text: string): string[] {
  if (isAscii(text)) return [text];
  const misread = new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  const legible = misread.replaceAll("\ufffd", "").length >= CERTAIN;
  return [text, utf8(text), ...(legible ? [misread] : [])];
}

/**
 * The spellings of common libraries. Others are found by resolving escapes (escapes.ts), which fails for a secret that
 * itself looks escaped; these are always found.
 */
function escapings(text: string): string[] {
  const form = new URLSearchParams({ "": text }).toString().slice(1);
  const html = text.replace(/[&<>"']/g, (character) => HTML[character] ?? character);
  return [text, form, form.replaceAll("+", "%20"), JSON.stringify(text).slice(1, -1), html];
}

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** As strings whose characters are bytes. */
function byteForms(text: string): string[] {
  if (isAscii(text)) return [text];
  const isLatin1 = [...text].every((character) => character.charCodeAt(0) <= 0xff);
  return isLatin1 ? [text, utf8(text)] : [utf8(text)];
}

function utf16(text: string, isBigEndian: boolean): string {
  const bytes = Buffer.from(text, "utf16le");
  return (isBigEndian ? bytes.swap16() : bytes).toString("latin1");
}

function encodings(bytes: string): string[] {
  return [...base64Of(bytes), ...hexOf(bytes)];
}

function hexOf(bytes: string): string[] {
  const hex = Buffer.from(bytes, "latin1").toString("hex");
  return [hex, hex.toUpperCase()];
}

function base64Of(bytes: string): string[] {
  const base64 =
    bytes.length < CERTAIN
      ? [toBase64(bytes).replaceAll("=", "")]
      : [0, 1, 2].map((shift) => base64Core(bytes, shift));
  return [...base64, ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}

/**
 * The fixed part of the base64 of these bytes inside a longer text: three bytes become four characters, so it depends
 * on the number of preceding bytes modulo three. The characters at the ends, which mix with neighbours, are left out.
 */
function base64Core(bytes: string, shift: number): string {
  const whole = toBase64("\0".repeat(shift) + bytes);
  return whole.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

function toBase64(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("base64");
}

function utf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}
