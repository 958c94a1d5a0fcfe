/** Longer texts are rare and would fill the cache. */
const LONGEST = 512;
const MOST = 1000;

/**
 * The same function with a cache of recent texts. For a pure function with few distinct texts: a team calls a handful
 * of URLs, and parsing one costs more than a lookup.
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
