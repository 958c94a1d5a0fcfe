/** All members of a type, in this order. A list that lacks one does not compile: the types come from the server's own lists. */
export function completeList<Member extends string>(
  members: Readonly<Record<Member, true>>,
): readonly Member[] {
  return Object.keys(members) as Member[];
}
