/**
 * JSON escapes control characters and lone surrogates with a backslash and a letter, which PostgreSQL reads as that letter.
 * The pattern may also match text that both read alike.
 */
const JSON_ONLY_ESCAPE = /\\[^"\\]/;

/**
 * Encodes an array as PostgreSQL's literal. The driver encodes arrays element by element with two regular expressions
 * each; one call of `JSON.stringify` gives the same text for almost every array and takes half as long. Other values and
 * arrays are left to the driver.
 */
export function toParameter(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every(isScalar)) return value;
  const json = JSON.stringify(value);
  if (json.includes("\\") && JSON_ONLY_ESCAPE.test(json)) return value;
  return `{${json.slice(1, -1)}}`;
}

/** JSON and the driver write the same for it. */
function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || typeof value === "string" || typeof value === "boolean";
}
