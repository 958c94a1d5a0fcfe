import { randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type KeyRing, KeyRingError, parseKeyRing } from "./key-ring.ts";

export const KEY_FILE = "vault-keys";
const OWNER_ONLY = 0o600;

/**
 * The keys for a house that was given none: made once, and read from the data directory ever after. Who holds the
 * directory holds both the lock and the key; a backup that must not be readable leaves this file out.
 *
 * Only for a directory that no other process uses: two that make keys at once would make two.
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
    // A restored copy may have become readable by others.
    await chmod(path, OWNER_ONLY);
    return text;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** The id is random, so that a key made after the loss of another is not taken for it. */
export function newVaultKey(): string {
  return `key-${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}`;
}

/**
 * Written under another name and renamed, and on disk before anything is sealed with it: a key that a power cut takes
 * away takes every token with it.
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
