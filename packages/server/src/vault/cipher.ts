import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { KeyRing, VaultKey } from "./key-ring.ts";

/** The context of an encrypted text. It cannot be decrypted for another row, team or purpose. */
export interface SealContext {
  readonly purpose: "token" | "callback" | "signing" | "alert";
  readonly teamId: number;
  /** The id of the row or object within its team and purpose. */
  readonly id: string;
}

/** Why a text cannot be decrypted. The message names keys and objects, never the content. */
export class SealError extends Error {
  override readonly name = "SealError";
}

/** version (1 byte) · length of the key's id (1) · the key's id · nonce (12) · ciphertext · tag (16) */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

export function seal(key: VaultKey, context: SealContext, text: string): Buffer {
  const id = Buffer.from(key.id, "latin1");
  const nonce = randomBytes(NONCE_BYTES);
  const bound = bind(key.id, context);
  const cipher = createCipheriv(CIPHER, deriveKey(key, bound), nonce).setAAD(bound);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION, id.length]), id, nonce, sealed, cipher.getAuthTag()]);
}

/** Throws a SealError for a missing key, another context, or a single changed bit. */
export function unseal(ring: KeyRing, context: SealContext, blob: Buffer): string {
  const keyId = sealingKeyOf(blob);
  const key = ring.find(keyId);
  if (key === undefined)
    throw new SealError(`It was sealed with the key "${keyId}", which is not on the ring`);
  const nonceAt = 2 + keyId.length;
  const sealedAt = nonceAt + NONCE_BYTES;
  const tagAt = blob.length - TAG_BYTES;
  if (tagAt < sealedAt) throw new SealError("It is too short to have been sealed");
  const bound = bind(keyId, context);
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv(CIPHER, deriveKey(key, bound), blob.subarray(nonceAt, sealedAt), options)
    .setAAD(bound)
    .setAuthTag(blob.subarray(tagAt));
  try {
    return Buffer.concat([decipher.update(blob.subarray(sealedAt, tagAt)), decipher.final()]).toString(
      "utf8",
    );
  } catch {
    throw new SealError(
      `It was changed, or sealed for something else, or the key "${keyId}" is another than it was`,
    );
  }
}

/** The id of the key that encrypted it. */
export function sealingKeyOf(blob: Buffer): string {
  const [version, length = 0] = blob;
  if (version !== VERSION || blob.length < 2 + length)
    throw new SealError("It is not in a form that this version knows");
  return blob.toString("latin1", 2, 2 + length);
}

/** A JSON list instead of joined text: no two contexts may have the same encoding. */
function bind(keyId: string, { purpose, teamId, id }: SealContext): Buffer {
  return Buffer.from(JSON.stringify(["bellhop vault", VERSION, keyId, purpose, teamId, id]));
}

/**
 * A separate key per object. Random nonces under one key may collide after about 2^32 texts, which callback ids alone
 * can reach in weeks; a separate key encrypts only a handful.
 */
function deriveKey({ key }: VaultKey, bound: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", key, Buffer.alloc(0), bound, 32));
}
