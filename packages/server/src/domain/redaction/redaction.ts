import { REDACTED, type Secret } from "../secret.ts";
import { foldPlus, type Reading, readingsOf, unfinishedEscape } from "./escapes.ts";
import { SHORTEST_SECRET, spellingsOf } from "./spellings.ts";
import { createPattern, findAll, type Pattern, type Span, unfinishedMatch } from "./text-search.ts";

/** Wipes secrets from a text. `cut` says that the text was cut off, perhaps in the middle of one. */
export type Redactor = (text: string, options?: { readonly cut?: boolean }) => string;

interface Wanted extends Pattern {
  readonly alone: boolean;
}

const WORD = /[A-Za-z0-9+/_-]/;

/**
 * Targets repeat what they were sent: in error texts, in echoes of the request, in links. Finds the secrets as they are,
 * in the escapes of URLs, forms, JSON and HTML (up to three deep, mixed), in base64 and base64url (also in the middle of
 * a longer one) and in hexadecimal; for `Bearer x` also x, for `Basic x` also the password in x. Each becomes `***`.
 *
 * A secret of less than four characters is wiped only where it is the whole text; base64 and hexadecimal of one of less
 * than eight only where it stands alone. A target that means to smuggle a secret into its answer can: it has it, after
 * all. Takes time in proportion to the text, whatever the text.
 */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const values = secrets.map((secret) => secret.reveal());
  const short = new Set(values.filter((value) => value !== "" && value.length < SHORTEST_SECRET));
  const spellings = values.filter((value) => value.length >= SHORTEST_SECRET).flatMap(spellingsOf);
  const plain = spellings.map(({ text, alone }): Wanted => ({ ...createPattern(text), alone }));
  let folded: Wanted[] | null = null;

  /** In a text whose escapes were resolved, so were those that a secret itself seems to have. */
  function resolved(): Wanted[] {
    folded ??= spellings.flatMap(({ text, alone }) => {
      const texts = new Set(readingsOf(text).map((reading) => foldPlus(reading.text)));
      return [...texts]
        .filter((each) => each.length >= SHORTEST_SECRET)
        .map((each) => ({ ...createPattern(each), alone }));
    });
    return folded;
  }

  return (text, { cut = false } = {}) => {
    if (short.has(text.trim())) return REDACTED;
    if (spellings.length === 0) return text;
    const spans: Span[] = [];
    for (const reading of readingsOf(text)) {
      for (const wanted of reading.at === null ? plain : resolved()) {
        collect(spans, reading, wanted, cut);
      }
    }
    return wipe(text, spans);
  };
}

function collect(spans: Span[], { text, at }: Reading, wanted: Wanted, cut: boolean): void {
  const source = (index: number) => at?.[index] ?? index;
  for (const [start, end] of findAll(text, wanted)) {
    if (wanted.alone && (WORD.test(text.charAt(start - 1)) || WORD.test(text.charAt(end)))) continue;
    spans.push([source(start), source(end)]);
  }
  if (!cut || wanted.alone) return;
  for (const end of new Set([text.length, text.length - unfinishedEscape(text)])) {
    const length = unfinishedMatch(text, end, wanted);
    if (length >= SHORTEST_SECRET) spans.push([source(end - length), source(text.length)]);
  }
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
