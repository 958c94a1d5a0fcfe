/** As long as a URL may be. */
const LONGEST = 8192;
/** The cache holds at most so many characters. A URL group of the longest URLs has 800,000. */
const MOST_CHARACTERS = 2_000_000;
const MOST = 1000;

/**
 * The same function with a cache of recent texts. For a pure function with few distinct texts: a team calls a handful
 * of URLs, and parsing one costs more than a lookup.
 */
export function remembered<T>(tell: (text: string) => T): (text: string) => T {
  const told = new Map<string, T>();
  let characters = 0;
  return (text) => {
    const known = told.get(text);
    if (known !== undefined) return known;
    const answer = tell(text);
    if (text.length > LONGEST) return answer;
    if (told.size >= MOST || characters + text.length > MOST_CHARACTERS) {
      told.clear();
      characters = 0;
    }
    characters += text.length;
    told.set(text, answer);
    return answer;
  };
}
