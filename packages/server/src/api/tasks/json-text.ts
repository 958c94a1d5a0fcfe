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
  const parts = members.map(({ name, of }, index) => ({
    head: `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`,
    of,
  }));
  return (value) => {
    let text = "";
    for (const { head, of } of parts) {
      const member = of(value);
      if (member !== undefined) text += head + toJson(member);
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
