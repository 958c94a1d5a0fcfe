import type { Session } from "./session.ts";

/** Does what the statement of this name does. Throws `Blocked` before it has changed anything, or not at all. */
export type Effect = (session: Session, values: readonly unknown[]) => object[];

export type Effects = Readonly<Record<string, Effect>>;

/** A `$n`, counted from 1, of the type that the store hands in. */
export function numberAt(values: readonly unknown[], index: number): number {
  const value = values[index - 1];
  if (typeof value !== "number") throw new Error(`$${index} is no number but ${value}`);
  return value;
}

export function textAt(values: readonly unknown[], index: number): string {
  const value = values[index - 1];
  if (typeof value !== "string") throw new Error(`$${index} is no text but ${value}`);
  return value;
}

/** An array; the caller says of what, as the SQL does. */
export function arrayAt<Item>(values: readonly unknown[], index: number): readonly Item[] {
  const value = values[index - 1];
  if (!Array.isArray(value)) throw new Error(`$${index} is no array but ${value}`);
  return value;
}

/** The rows of `jsonb_to_recordset`; the caller says what they are, as the SQL does. */
export function recordsAt<Row>(values: readonly unknown[], index: number): Row[] {
  return JSON.parse(textAt(values, index));
}
