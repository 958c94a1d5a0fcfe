import { seal, unseal } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";

/**
 * A signing secret as it is stored where there is a vault: this, the id of the key, and what it sealed. Without a vault it
 * is stored as it is, and sealed as soon as there is one.
 */
const SEALED = "sealed:";

export function isSealed(stored: string): boolean {
  return stored.startsWith(SEALED);
}

/** How all begin that need not be sealed again. */
export function sealedPrefix({ sealing }: KeyRing): string {
  return `${SEALED}${sealing.id}:`;
}

export function sealSecret(ring: KeyRing, teamId: number, id: string, secret: string): string {
  const sealed = seal(ring.sealing, { purpose: "signing", teamId, id }, secret);
  return sealedPrefix(ring) + sealed.toString("base64");
}

/** Throws a SealError for what was not sealed for exactly this. */
export function openSecret(ring: KeyRing, teamId: number, id: string, stored: string): string {
  if (!isSealed(stored)) return stored;
  const sealed = Buffer.from(stored.slice(stored.lastIndexOf(":") + 1), "base64");
  return unseal(ring, { purpose: "signing", teamId, id }, sealed);
}
