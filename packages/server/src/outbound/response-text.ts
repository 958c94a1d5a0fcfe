/**
 * Text that PostgreSQL can hold. An answer that text and jsonb refuse would fail its settlement, and the call
 * would be made again without end. Decoding UTF-8 replaces what is invalid, lone surrogates included, so NUL is
 * all that is left to replace.
 */
export function readText(bytes: Buffer): string {
  return replaceNul(bytes.toString("utf8"));
}

/** Names in lower case, repeated headers joined by ", ". Values are Latin-1, which has no surrogates. */
export function readHeaders(
  received: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(received)) {
    const value = received[name];
    // Assigned, `__proto__` would vanish; defined, it would lie in wait for whoever copies the record.
    if (value === undefined || name === "__proto__") continue;
    headers[name] = replaceNul(typeof value === "string" ? value : value.join(", "));
  }
  return headers;
}

function replaceNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
}
