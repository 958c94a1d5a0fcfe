import { randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type KeyRing, KeyRingError, parseKeyRing } from "./key-ring.ts";

export const KEY_FILE = "vault-keys";
const OWNER_ONLY = 0o600;

/**
 * The keys of a server without configured keys: created once and then read from the data directory. The directory
 * contains both the data and the key; exclude this file from a backup that must not be readable.
 *
 * Only for a directory that no other process uses: two concurrent processes would create two keys.
 */
export async function openKeyFile(dataDir: string): Promise<KeyRing> {
  const path = join(dataDir, KEY_FILE);
  const text = (await readIfThere(path)) ?? (await createKeyFile(dataDir, path));
  try {
    return parseKeyRing(text);
  } catch (error) {
    throw error instanceof KeyRingError ? new KeyRingError(`${path} ${error.message}`) : error;
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    const text = await readFile(path, "utf8");
    // A restored copy may be readable by others.
    await chmod(path, OWNER_ONLY);
    return text;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** The id is random, so that a new key is not mistaken for a lost one. */
export function newVaultKey(): string {
  return `key-${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}`;
}

/**
 * Written under another name and renamed, and on disk before its first use: a key lost in a power cut would make every
 * token unreadable.
 */
async function createKeyFile(dataDir: string, path: string): Promise<string> {
  const text = `${newVaultKey()}\n`;
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const file = await open(draft, "wx", OWNER_ONLY);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const directory = await open(dataDir, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
  return text;
}
