/** The length of URLs that browsers and proxies handle reliably. */
export const LONGEST_REDIRECT_URI = 2000;
export const MOST_REDIRECT_URIS = 20;

/** The characters of a URI. Programs interpret spaces, quotes, backslashes and non-ASCII letters differently. */
const URI_CHARACTERS = /^[\w\-.~:/?[\]@!$&'()*+,;=%]+$/;
/** A URL parser lets `;` and `*` pass in a host, which would mean something else in a content security policy. */
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/;
const LOOPBACK_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;
/** RFC 8252, 7.1: a domain name in reverse, so that it can be one program's own. No scheme that browsers run has a dot. */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;
const LOOPBACK_ADDRESS = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/;

/**
 * Whether an authorization code may be sent there. Plain http only to a program on the person's own machine; no scheme
 * that a browser would execute.
 */
export function isRedirectUri(text: string): boolean {
  if (text.length > LONGEST_REDIRECT_URI || !URI_CHARACTERS.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "" || text.split(/[/?]/, 3).join("").includes("@")) return false;
  if (PRIVATE_SCHEME.test(protocol)) return true;
  if (!text.startsWith(`${protocol}//`) || !HOST.test(hostname)) return false;
  return protocol === "https:" || (protocol === "http:" && LOOPBACK_HOST.test(hostname));
}

/**
 * Whether `sent` equals a registered one exactly: a match by prefix, host or path could send the code to an attacker's
 * address. The one exception is RFC 8252, 7.3: a program on the person's own machine uses any free port.
 */
export function isRegisteredUri(registered: readonly string[], sent: string): boolean {
  if (registered.includes(sent)) return true;
  const withoutPort = loopbackWithoutPort(sent);
  return withoutPort !== null && registered.some((uri) => loopbackWithoutPort(uri) === withoutPort);
}

function loopbackWithoutPort(uri: string): string | null {
  const match = LOOPBACK_ADDRESS.exec(uri);
  return match === null || !URL.canParse(uri) ? null : `${match[1]} ${match[2]}`;
}

/**
 * The source expression of a content security policy for a form's target. It has no syntax for an IPv6 address, and for
 * a private scheme only the scheme.
 */
export function formTargetOf(uri: string): string {
  const { protocol, host, origin } = new URL(uri);
  return /^https?:$/.test(protocol) && !host.startsWith("[") ? origin : protocol;
}

/** Adds parameters to a URI that may have some of its own. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | null>>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) added.set(name, value);
  return `${uri}${uri.includes("?") ? "&" : "?"}${added}`;
}
