/** Longer ones are rare, and a memory full of them would be large. */
const LONGEST = 512;
const MOST = 1000;

/**
 * The same function, with a memory of the texts that it was asked about last. For one that always says the same of a
 * text, and is asked about few texts many times: a team calls a handful of URLs, and parsing one costs more than a look.
 */
export function remembered<T>(tell: (text: string) => T): (text: string) => T {
  const told = new Map<string, T>();
  return (text) => {
    const known = told.get(text);
    if (known !== undefined) return known;
    const answer = tell(text);
    if (text.length > LONGEST) return answer;
    if (told.size >= MOST) told.clear();
    told.set(text, answer);
    return answer;
  };
}
