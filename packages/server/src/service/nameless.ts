import { createHash } from "node:crypto";

/** An address as limits are counted by it: whoever reads their table must not learn who signs in or is invited. */
export function nameless(email: string): string {
  return createHash("sha256").update(email).digest("hex");
}
