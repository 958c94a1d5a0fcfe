/** PostgreSQL keeps no NUL, and a lone surrogate is no text: it has no bytes to be sent as. */
const NOT_STORABLE = /[\0\p{Cs}]/u;

export const STORABLE_RULE = "text without NUL characters or lone surrogates";

export function isStorable(text: string): boolean {
  return !NOT_STORABLE.test(text);
}
