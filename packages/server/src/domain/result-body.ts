/** Cuts by UTF-8 length without splitting a character. */
export function cutToBytes(text: string, maxBytes: number): { text: string; cut: boolean } {
  // A UTF-16 unit is at most three bytes, so short texts need no measuring.
  if (text.length * 3 <= maxBytes) return { text, cut: false };
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) return { text: text.slice(0, end), cut: true };
    end += character.length;
  }
  return { text, cut: false };
}
