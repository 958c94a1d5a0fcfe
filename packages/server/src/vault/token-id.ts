import { fromString, fromUUID, toUUID } from "typeid-js";
import { v7 } from "uuid";

/** The row holds the UUID v7; `tok_…` is the same 128 bits, as headers and URLs name it. */
const PREFIX = "tok";

export function newTokenUuid(): string {
  return v7();
}

export function formatTokenId(uuid: string): string {
  return fromUUID(uuid, PREFIX);
}

/** Null for anything that cannot be a token's id. */
export function parseTokenId(text: string): string | null {
  try {
    return toUUID(fromString(text, PREFIX));
  } catch {
    return null;
  }
}
