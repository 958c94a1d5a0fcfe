/** JSON that stands in an answer as it was written: a parsed payload would have lost what JSON.parse loses. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Member<T> {
  readonly name: string;
  /** Undefined is left out; an instant is shown as ISO 8601. */
  readonly of: (value: T) => unknown;
}

/**
 * A function that writes these members of a value as a JSON object; the first of them is never left out. It writes text
 * straight away: an object made name by name, only to be turned into text, takes longer.
 */
export function jsonWriter<T>(members: readonly Member<T>[]): (value: T) => string {
  const write = memberWriter(members, true);
  return (value) => `${write(value)}}`;
}

function memberWriter<T>(members: readonly Member<T>[], isFirst: boolean): (value: T) => string {
  const parts = members.map(({ name, of }, index) => ({
    head: `${isFirst && index === 0 ? "{" : ","}${JSON.stringify(name)}:`,
    of,
  }));
  return (value) => {
    let text = "";
    for (const { head, of } of parts) {
      const member = of(value);
      if (member !== undefined) text += head + toJson(member);
    }
    return text;
  };
}

/** A member, perhaps of what changes. */
export interface MovingMember<T, M> extends Member<T> {
  readonly ofMoment?: ((moment: M) => unknown) | undefined;
}

/**
 * The same for a value that is written several times, with what changes taken from a moment of it. What stays is put into
 * words once. The first member stays.
 */
export function momentWriter<T extends object, M>(
  members: readonly MovingMember<T, M>[],
): (value: T, moment: M) => string {
  const moving = members.flatMap(({ name, ofMoment }, place) =>
    ofMoment === undefined ? [] : [{ place, head: `,${JSON.stringify(name)}:`, ofMoment }],
  );
  const ends = [...moving.map(({ place }) => place), members.length];
  const writers = ends.map((end, index) =>
    memberWriter(members.slice(index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end), index === 0),
  );
  const written = new WeakMap<T, readonly string[]>();

  function whatStays(value: T): readonly string[] {
    const texts = writers.map((write) => write(value));
    written.set(value, texts);
    return texts;
  }

  return (value, moment) => {
    const texts = written.get(value) ?? whatStays(value);
    let text = texts[0] ?? "";
    for (const [index, { head, ofMoment }] of moving.entries()) {
      const member = ofMoment(moment);
      if (member !== undefined) text += head + toJson(member);
      text += texts[index + 1];
    }
    return `${text}}`;
  };
}

/** Nothing in it must be escaped. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The common cases first: JSON.stringify asks many questions of each value, and an answer has a dozen. */
function toJson(value: unknown): string {
  if (typeof value === "string") return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
  if (typeof value === "number") return `${value}`;
  if (value instanceof Date) return instantJson(value);
  return value instanceof RawJson ? value.text : JSON.stringify(value);
}

let lastMs = Number.NaN;
let lastJson = "";

/** Remembers the last: a task that is called at once names one instant three times, and so do the tasks beside it. */
function instantJson(instant: Date): string {
  const ms = instant.getTime();
  if (ms !== lastMs) {
    lastJson = `"${instant.toISOString()}"`;
    lastMs = ms;
  }
  return lastJson;
}
