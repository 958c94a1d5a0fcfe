import { fromString, fromUUID, toUUID } from "typeid-js";
import { v7 } from "uuid";

/** How ids look from outside. The row holds the UUID; the prefix says what it is the id of. */
export type IdPrefix = "key" | "user" | "team" | "app" | "auth" | "inv" | "evt";

export function newUuid(): string {
  return v7();
}

export function formatId(prefix: IdPrefix, uuid: string): string {
  return fromUUID(uuid, prefix);
}

/** Null for anything that cannot be such an id. */
export function parseId(prefix: IdPrefix, text: string): string | null {
  try {
    return toUUID(fromString(text, prefix));
  } catch {
    return null;
  }
}
