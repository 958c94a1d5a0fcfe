import { createHash, randomBytes } from "node:crypto";

/** The form in which our secrets are stored. They are 256 random bits, so no slow hash is needed to keep them safe. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** 256 random bits, in digits that need no escaping anywhere. */
export function newSecret(): string {
  return randomBytes(32).toString("hex");
}
