/**
 * On the wire queue tasks and queues have snake_case names, direct tasks and the rest camelCase ones. Here all are
 * camelCase. Names are changed at this edge alone, and never inside of a value whose names are the caller's own.
 */

/** Fields whose inside belongs to the caller, or is keyed by names that are data. */
const OPAQUE = ["payload", "body", "headers", "metadata", "detail", "checks", "limits"] as const;
type Opaque = (typeof OPAQUE)[number];

/** Its inside is camelCase on the wire too, in both kinds of tasks. */
const CAMEL_ON_THE_WIRE = "pollConfig";

type CamelName<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** A type of the wire with camelCase names. */
export type Camel<Wire> = Wire extends readonly (infer Item)[]
  ? Camel<Item>[]
  : Wire extends object
    ? { [Name in keyof Wire as CamelName<Name>]: Name extends Opaque ? Wire[Name] : Camel<Wire[Name]> }
    : Wire;

/** What a caller gives: a field that may be left out may be `undefined` too, which is not sent. */
export type Given<Body> = Body extends readonly (infer Item)[]
  ? Given<Item>[]
  : Body extends object
    ? {
        [Name in keyof Body]:
          | (Name extends Opaque ? Body[Name] : Given<Body[Name]>)
          | (object extends Pick<Body, Name> ? undefined : never);
      }
    : Body;

/** An answer with camelCase names. Fields that this version does not know come along like the others. */
export function fromWire(value: unknown): unknown {
  return rename(value, camelName, () => false);
}

/** A request as the API reads it. A direct task, wherever it stands, is camelCase already. */
export function toWire(value: unknown): unknown {
  return rename(value, wireName, (part) => "targetUrl" in part && !("webhookUrl" in part));
}

/** Only direct tasks have a `targetUrl`: it has the same name wherever it stands. */
function wireName(name: string): string {
  return name === "targetUrl" ? name : snakeName(name);
}

export function camelName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function rename(
  value: unknown,
  nameOf: (name: string) => string,
  isDone: (part: object) => boolean,
): unknown {
  if (Array.isArray(value)) return value.map((item) => rename(item, nameOf, isDone));
  if (!isPlain(value) || isDone(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    nameOf(name),
    isOpaque(name) ? inner : rename(inner, nameOf, isDone),
  ]);
  return Object.fromEntries(entries);
}

function isOpaque(name: string): boolean {
  return name === CAMEL_ON_THE_WIRE || OPAQUE.some((opaque) => opaque === name);
}

/** Not a Date or another object that knows itself how it is written. */
function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !("toJSON" in value);
}
