/** PostgreSQL cannot store a NUL, and a lone surrogate has no encoding. */
const NOT_STORABLE = /[\0\p{Cs}]/u;

export const STORABLE_RULE = "text without NUL characters or lone surrogates";

export function isStorable(text: string): boolean {
  return !NOT_STORABLE.test(text);
}
