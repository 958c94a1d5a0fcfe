import { createSecretKey, type KeyObject } from "node:crypto";

/** A key as Node's KeyObject, which prints and serialises as nothing. */
export interface VaultKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The first key encrypts; all keys decrypt. */
export interface KeyRing {
  readonly sealing: VaultKey;
  readonly ids: readonly string[];
  find(id: string): VaultKey | undefined;
}

/** Says what is wrong with a list of keys, without its content: a misplaced key is still secret. */
export class KeyRingError extends Error {
  override readonly name = "KeyRingError";
}

const KEY_ID = /^[A-Za-z0-9._-]{1,32}$/;
/** 32 bytes in base64 or base64url. */
const KEY = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Parses `id:base64key`, separated by commas or line breaks. */
export function parseKeyRing(text: string): KeyRing {
  const entries = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const keys = entries.map((entry, index) => parseKey(entry, `entry ${index + 1}`));
  const [sealing] = keys;
  if (sealing === undefined) throw new KeyRingError("holds no key");
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size < keys.length) throw new KeyRingError("gives two keys the same id");
  return { sealing, ids: [...byId.keys()], find: (id) => byId.get(id) };
}

function parseKey(entry: string, where: string): VaultKey {
  const colon = entry.indexOf(":");
  if (colon === -1) throw new KeyRingError(`must be id:base64key, and ${where} has no colon`);
  const id = entry.slice(0, colon);
  const key = entry.slice(colon + 1);
  if (!KEY_ID.test(id)) {
    throw new KeyRingError(
      `must have ids of 1 to 32 letters, digits, dots, hyphens or underscores: see ${where}`,
    );
  }
  if (!KEY.test(key)) throw new KeyRingError(`must have keys of 32 bytes in base64: see ${where}`);
  return { id, key: createSecretKey(Buffer.from(key, "base64")) };
}
