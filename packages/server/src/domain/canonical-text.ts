/**
 * The same text for equal values: members in name order, without nulls, so that a field added by a later version
 * changes nothing for requests that do not use it.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const members = Object.entries(part).filter(([, member]) => member !== null);
    return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
