/**
 * The same text for values that say the same: members in the order of their names, and none that is null, so that a field
 * which a later version adds changes nothing for those who do not use it.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const members = Object.entries(part).filter(([, member]) => member !== null);
    return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
