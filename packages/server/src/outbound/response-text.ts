/**
 * Text that PostgreSQL can store. An answer that text and jsonb refuse would fail its settlement, and the call would
 * repeat forever. UTF-8 decoding replaces invalid bytes, including lone surrogates, so only NUL is left to replace.
 */
export function readText(bytes: Buffer): string {
  return bytes.includes(0) ? maskNul(bytes).toString("utf8") : bytes.toString("utf8");
}

/**
 * 0xFF is never valid in UTF-8, so it decodes to the replacement character. Replaced in the text instead, a
 * megabyte of NUL becomes a million small strings, and 33 MB.
 */
function maskNul(bytes: Buffer): Buffer {
  const masked = Buffer.from(bytes);
  for (let index = 0; index < masked.length; index += 1) {
    if (masked[index] === 0) masked[index] = 0xff;
  }
  return masked;
}

/** Names in lower case, repeated headers joined by ", ". Values are Latin-1, which has no surrogates. */
export function readHeaders(
  received: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(received)) {
    const value = received[name];
    // Assigned, `__proto__` would vanish; defined, it would take effect when code copies the record.
    if (value === undefined || name === "__proto__") continue;
    const text = typeof value === "string" ? value : value.join(", ");
    // trusted keys: the one that cannot be assigned is left out.
    headers[name] = text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
  }
  return headers;
}
