import { REDACTED, type Secret } from "../secret.ts";
import { type Automaton, createAutomaton } from "./automaton.ts";
import { foldPlus, type Reading, readingsOf, resolvedReadings, unfinishedEscape } from "./escapes.ts";
import { SHORTEST_SECRET, type Spelling, shortestSpelling, spellingsOf } from "./spellings.ts";
import { findAll, finish, type Portions, type Span, unfinishedLength } from "./text-search.ts";

/** `cut`: the text was cut, perhaps inside a secret. */
export interface RedactionOptions {
  readonly cut?: boolean;
}

/** Removes secrets from texts. */
export interface Redactor {
  redact(text: string, options?: RedactionOptions): string;
  /** The same in portions, for a text that may be long. */
  redactInPortions(text: string, options?: RedactionOptions): Portions<string>;
}

/**
 * Targets repeat what they were sent: in error texts, in echoes of the request, in links. Finds the secrets as they are,
 * in the escapes of URLs, forms, JSON and HTML (up to three deep, mixed), in base64 and base64url (also in the middle of
 * a longer one, also broken into lines) and in hexadecimal, in UTF-16 too; for `Bearer x` also x, for `Basic x` also the
 * password in x. Each becomes `***`.
 *
 * A secret of less than four characters is wiped only where it is the whole text; base64 and hexadecimal of one of less
 * than eight only where it stands alone. What has the first 256 characters of a longer one is wiped to its length. A target that means to smuggle a secret into its answer can: it has it, after
 * all. Takes time in proportion to the text, whatever the text and however many the secrets.
 */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const values = secrets.map((secret) => secret.reveal());
  const short = new Set(values.filter((value) => value !== "" && value.length < SHORTEST_SECRET));
  const long = [...new Set(values.filter((value) => value.length >= SHORTEST_SECRET))];
  // Created on first use: most answers are too short to contain a secret.
  let spellings: readonly Spelling[] | null = null;
  function* spell(): Portions<readonly Spelling[]> {
    spellings ??= yield* collect(long, spellingsOf);
    return spellings;
  }
  const plain = new Wanted(spell);
  const resolved = new Wanted(function* () {
    return yield* collect(yield* spell(), resolvedSpellings);
  });
  const shortest = Math.min(...long.map(shortestSpelling));

  function* redactInPortions(text: string, { cut = false }: RedactionOptions = {}): Portions<string> {
    if (short.has(text.trim())) return REDACTED;
    if (long.length === 0 || (!cut && text.length < shortest)) return text;
    const spans: Span[] = [];
    for (const reading of yield* readingsOf(text)) {
      const wanted = reading.at === null ? plain : resolved;
      const automaton = yield* wanted.automatonFor(reading.text, cut);
      if (automaton === null) continue;
      for (const span of yield* spansIn(reading, automaton, cut)) spans.push(span);
    }
    return wipe(text, spans);
  }

  return { redactInPortions, redact: (text, options) => finish(redactInPortions(text, options)) };
}

function* collect<T>(
  sources: readonly T[],
  spellingsOfEach: (source: T) => readonly Spelling[],
): Portions<readonly Spelling[]> {
  const all: Spelling[] = [];
  for (const source of sources) {
    all.push(...spellingsOfEach(source));
    yield;
  }
  return all;
}

/** Up to this length it is faster to test each spelling separately: most answers are short. */
const SHORT_TEXT = 2048;

/** The spellings searched for in one kind of reading, each created on first use. */
class Wanted {
  readonly #make: () => Portions<readonly Spelling[]>;
  #spellings: readonly Spelling[] | null = null;
  #automaton: Automaton | null = null;

  constructor(make: () => Portions<readonly Spelling[]>) {
    this.#make = make;
  }

  /** An automaton of the spellings that the text may contain; null if there are none. */
  *automatonFor(text: string, cut: boolean): Portions<Automaton | null> {
    this.#spellings ??= yield* this.#make();
    if (text.length > SHORT_TEXT) {
      this.#automaton ??= yield* createAutomaton(this.#spellings);
      return this.#automaton;
    }
    const present = this.#spellings.filter((spelling) =>
      text.includes(cut ? spelling.text.slice(0, SHORTEST_SECRET) : spelling.text),
    );
    return present.length === 0 ? null : yield* createAutomaton(present);
  }
}

/** In a text with resolved escapes, the escapes of the secret itself are resolved too. */
function resolvedSpellings({ text, alone }: Spelling): Spelling[] {
  const readings = finish(resolvedReadings(text));
  const texts = new Set([text, ...readings.map((reading) => foldPlus(reading.text))]);
  return [...texts].filter((each) => each.length >= SHORTEST_SECRET).map((each) => ({ text: each, alone }));
}

/** Places in the source. */
function* spansIn({ text, at }: Reading, automaton: Automaton, cut: boolean): Portions<Span[]> {
  const source = (index: number) => at?.[index] ?? index;
  const places = cut ? [text.length - unfinishedEscape(text), text.length] : [];
  const { spans, states } = yield* findAll(text, automaton, places);
  const found = spans.map(([start, end]): Span => [source(start), source(end)]);
  for (const [index, place] of places.entries()) {
    const length = unfinishedLength(automaton, states[index] ?? 0);
    if (length >= SHORTEST_SECRET) found.push([source(place - length), source(text.length)]);
  }
  return found;
}

function wipe(text: string, spans: Span[]): string {
  spans.sort(([a], [b]) => a - b);
  const parts: string[] = [];
  let kept = 0;
  for (const [start, end] of spans) {
    if (end <= kept) continue;
    if (start > kept || parts.length === 0) parts.push(text.slice(kept, start), REDACTED);
    kept = end;
  }
  parts.push(text.slice(kept));
  return parts.join("");
}
