const DURATION = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;

/** `50s`, `1d10h30m`: whole numbers of days, hours, minutes and seconds, in seconds. Null for anything else. */
export function parseDuration(text: string): number | null {
  if (text === "" || text.length > 40) return null;
  const found = DURATION.exec(text);
  if (found === null) return null;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  const total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  return Number.isSafeInteger(total) ? total : null;
}
