/**
 * Headers a caller may not set. Hop-by-hop headers, Host, Content-Length and Expect belong to the connection: a caller
 * could use them to desynchronise the framing or to reach another host than the checked one.
 */
const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** `token` of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * `field-value` of RFC 9110, section 5.5: visible ASCII and obs-text, with spaces and tabs only in between.
 * CR, LF and NUL are out: they would let a value write further headers.
 */
const HEADER_VALUE = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;

export function forbiddenHeader(name: string): boolean {
  return FORBIDDEN_HEADERS.has(name.toLowerCase());
}

export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

export function isHeaderValue(value: string): boolean {
  return HEADER_VALUE.test(value);
}
