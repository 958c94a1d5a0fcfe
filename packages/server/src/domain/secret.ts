/** Node prints an object with this method; the global symbol avoids an import from Node. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export const REDACTED = "***";

/** A text that is printed as `***` in strings, JSON, logs and debuggers. Code that needs the text asks for it explicitly. */
export class Secret {
  // A private field of the language: no serialiser, spread or clone can read it.
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.toPrimitive](): string {
    return REDACTED;
  }

  [INSPECT](): string {
    return REDACTED;
  }
}
