/**
 * JSON whose numbers are shown as they were written. A JavaScript number has 53 bits, and `JSON.parse` changes what does
 * not fit; so a number that would be written differently afterwards is kept as a string behind a mark.
 */

/** A control character that JSON writes only escaped. A foreign string may begin with it: it is shown as a number then. */
const MARK = "\u0001#";
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The same text, with numbers that would change as marked strings. */
export function markNumbers(text: string): string {
  return text.replace(STRING_OR_NUMBER, (found) =>
    found.startsWith('"') || String(Number(found)) === found ? found : JSON.stringify(MARK + found),
  );
}

export function parseExact(text: string): unknown {
  return JSON.parse(markNumbers(text));
}

/** The digits of a marked number; null for anything else. */
export function exactNumber(value: unknown): string | null {
  return typeof value === "string" && value.startsWith(MARK) ? value.slice(MARK.length) : null;
}

/** Text of what `parseExact` gave. */
export function printExact(value: unknown, indent = 2): string {
  return unmarkNumbers(JSON.stringify(value, null, indent) ?? "");
}

/** Numbers of a text of JSON as they were before they were marked. */
export function unmarkNumbers(text: string): string {
  return text.replace(/"\\u0001#(-?\d[\d.eE+-]*)"/g, "$1");
}

/** Laid out for reading; as it is where it is no JSON. */
export function prettyText(text: string): string {
  try {
    return printExact(parseExact(text));
  } catch {
    return text;
  }
}
