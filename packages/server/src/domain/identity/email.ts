/** As long as SMTP allows (RFC 5321: a path of 256 with its brackets). */
const LONGEST = 254;
/** No spaces, control characters, separators or quotes. */
const MAILBOX = /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}$/u;
/** Any script, and any character that counts as a dot. Other URL characters are not part of a name. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;
/** The last label must not be a number: it would be an IP address. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The address as stored, compared and mailed to; null for an invalid text. A mail server looks a domain up by its ASCII
 * name, so different spellings of one mailbox must be one address here: otherwise one person would have a set of limits
 * per spelling.
 */
export function readEmail(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > LONGEST) return null;
  const [mailbox = "", domain = "", ...more] = trimmed.toLowerCase().normalize("NFC").split("@");
  const host = hostOf(domain);
  const email = `${mailbox}@${host}`;
  const isGood = more.length === 0 && MAILBOX.test(mailbox) && HOST_NAME.test(host);
  return isGood && email.length <= LONGEST ? email : null;
}

/** A domain as browsers and mail servers look it up; empty for an invalid text. */
function hostOf(domain: string): string {
  const url = `http://${domain}/`;
  return DOMAIN.test(domain) && URL.canParse(url) ? new URL(url).hostname : "";
}
