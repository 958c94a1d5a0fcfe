const encoder = new TextEncoder();

/** Cuts by UTF-8 length without splitting a character. */
export function cutToBytes(text: string, maxBytes: number): { text: string; cut: boolean } {
  // A UTF-16 unit is at most three bytes, so short texts need no measuring.
  if (text.length * 3 <= maxBytes) return { text, cut: false };
  // Encoded natively: a loop over sixteen million characters would block the event loop.
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? { text, cut: false } : { text: text.slice(0, read), cut: true };
}
