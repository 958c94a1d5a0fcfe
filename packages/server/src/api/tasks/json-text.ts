/** JSON that is sent as written: JSON.parse would lose details. */
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
 * The same for a value that is written several times with changing fields. The constant parts are serialized once and
 * kept with the value. The first member is constant.
 */
export function momentWriter<T extends { stays: readonly string[] | null }, M>(
  members: readonly MovingMember<T, M>[],
): (value: T, moment: M) => string {
  const moving = members.flatMap(({ name, ofMoment }, place) =>
    ofMoment === undefined ? [] : [{ place, head: `,${JSON.stringify(name)}:`, ofMoment }],
  );
  const ends = [...moving.map(({ place }) => place), members.length];
  const writers = ends.map((end, index) =>
    memberWriter(members.slice(index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end), index === 0),
  );

  return (value, moment) => {
    value.stays ??= writers.map((write) => flat(write(value)));
    let text = value.stays[0] ?? "";
    let index = 1;
    for (const { head, ofMoment } of moving) {
      const member = ofMoment(moment);
      if (member !== undefined) text += head + toJson(member);
      text += value.stays[index];
      index += 1;
    }
    return `${text}}`;
  };
}

/** A concatenated string stays fragmented until it is read, and is copied piece by piece. */
function flat(text: string): string {
  text.charCodeAt(0);
  return text;
}

/** Nothing in it must be escaped. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Common cases first: JSON.stringify checks each value many times, and an answer has a dozen. */
function toJson(value: unknown): string {
  if (typeof value === "string") return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
  if (typeof value === "number") return `${value}`;
  if (value instanceof Date) return instantJson(value);
  return value instanceof RawJson ? value.text : JSON.stringify(value);
}

/** A power of two: an instant has the place that its last bits name. */
const REMEMBERED = 64;
const knownMs = new Float64Array(REMEMBERED).fill(Number.NaN);
const knownJson: string[] = Array(REMEMBERED).fill("");

/** Caches recent ones: a task has three or four, and its batch has the same. */
function instantJson(instant: Date): string {
  const ms = instant.getTime();
  const place = ms & (REMEMBERED - 1);
  if (knownMs[place] === ms) return knownJson[place] ?? "";
  const json = `"${instant.toISOString()}"`;
  knownMs[place] = ms;
  knownJson[place] = json;
  return json;
}
