/** Node prints an object by this method; the symbol is shared by name, so that nothing of Node has to be imported. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export const REDACTED = "***";

/**
 * A text that must not be seen. However it is printed (in a string, as JSON, by a logger, by a debugger) it is `***`;
 * whoever means to have the text says so.
 */
export class Secret {
  // Private to the language and not only to the compiler: no serialiser, spread or clone reaches it.
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
