/** As long as SMTP allows (RFC 5321: a path of 256 with its brackets). */
const LONGEST = 254;
/** No spaces, control characters, or what parts and quotes addresses. */
const MAILBOX = /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}$/u;
/** In any script, and any of the dots that count as one. Whatever else a URL could hold is no part of a name. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;
/** The last label is no number: it would be an IP address. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The address as it is stored, compared and mailed to; null for a text that cannot be one. Whether a person reads it only a mail
 * can tell. A mail server looks a domain up by its name in ASCII, so what it takes for one address is one here: otherwise
 * a mailbox would be as many people, and have as many limits, as there are ways to write it.
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

/** A domain as browsers and mail servers look it up; empty for a text that is none. */
function hostOf(domain: string): string {
  const url = `http://${domain}/`;
  return DOMAIN.test(domain) && URL.canParse(url) ? new URL(url).hostname : "";
}
