/** As long as SMTP allows (RFC 5321: a path of 256 with its brackets). */
const LONGEST = 254;
/** One @, no spaces or control characters, a host. Whether somebody reads it only a mail can tell. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}@[^\s@<>,;:"()[\]\\\p{C}]+$/u;

/** The address as it is stored and compared; null for what cannot be one. */
export function readEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= LONGEST && ADDRESS.test(email) ? email : null;
}
