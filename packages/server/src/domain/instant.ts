const ISO_8601 = /^(\d{4})-(\d\d)-(\d\d)[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)$/;

/**
 * An ISO 8601 time with its zone; null for anything else. Without a zone the same text means different moments on
 * different machines, and Date.parse alone also takes "1" and turns 30 February into 1 March.
 */
export function parseInstant(text: string): Date | null {
  const match = ISO_8601.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at;
}
