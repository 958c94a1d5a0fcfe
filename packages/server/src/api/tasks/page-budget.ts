/** A page of the usual tasks is a tenth of it; a hundred with the longest headers and URLs would be ten times as much. */
const MOST_PAGE_BYTES = 1024 * 1024;

/** The first of these texts that fit on a page together, and one at least: the list must go on. */
export function fitPage(texts: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = texts.findIndex((text, index) => {
    bytes += Buffer.byteLength(text);
    return index > 0 && bytes > MOST_PAGE_BYTES;
  });
  return end === -1 ? texts : texts.slice(0, end);
}
