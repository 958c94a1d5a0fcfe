import { seal, unseal } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";

/**
 * The stored form of a signing secret with a vault: this prefix, the id of the key, and the encrypted text. Without a
 * vault it is stored in plain text, and encrypted as soon as there is one.
 */
const SEALED = "sealed:";

export function isSealed(stored: string): boolean {
  return stored.startsWith(SEALED);
}

/** The prefix of secrets that need no re-encryption. */
export function sealedPrefix({ sealing }: KeyRing): string {
  return `${SEALED}${sealing.id}:`;
}

export function sealSecret(ring: KeyRing, teamId: number, id: string, secret: string): string {
  const sealed = seal(ring.sealing, { purpose: "signing", teamId, id }, secret);
  return sealedPrefix(ring) + sealed.toString("base64");
}

/** Throws a SealError for another context. */
export function openSecret(ring: KeyRing, teamId: number, id: string, stored: string): string {
  if (!isSealed(stored)) return stored;
  const sealed = Buffer.from(stored.slice(stored.lastIndexOf(":") + 1), "base64");
  return unseal(ring, { purpose: "signing", teamId, id }, sealed);
}
