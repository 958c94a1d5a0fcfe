import { createHash, randomBytes } from "node:crypto";

/** The stored form of secrets. They have 256 random bits, so no slow hash is needed. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** 256 random bits, in characters that need no escaping. */
export function newSecret(): string {
  return randomBytes(32).toString("hex");
}
