import { createHash, randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncPath } from "./disk.ts";

const PASSWORD_FILE = "postgres-password";
const OWNER_ONLY = 0o600;

/** The passwords of the two roles of the embedded server. */
export type Passwords = { admin: string; app: string };

/** Creates the secret of this data directory once, and reads it later. The caller must own the directory. */
export async function openPasswords(dataDir: string): Promise<Passwords> {
  return toPasswords((await readSecret(dataDir)) ?? (await createSecret(dataDir)));
}

/** For a process beside the owner; null if there is no secret yet. */
export async function readPasswords(dataDir: string): Promise<Passwords | null> {
  const secret = await readSecret(dataDir);
  return secret === null ? null : toPasswords(secret);
}

/** One cannot be derived from the other: the application's pools hold only their own. */
function toPasswords(secret: string): Passwords {
  const derive = (role: string) => createHash("sha256").update(`${role} ${secret}`).digest("base64url");
  return { admin: derive("admin"), app: derive("app") };
}

async function readSecret(dataDir: string): Promise<string | null> {
  const path = join(dataDir, PASSWORD_FILE);
  try {
    const secret = (await readFile(path, "utf8")).trim();
    // A restored copy may be readable by others.
    await chmod(path, OWNER_ONLY);
    return secret === "" ? null : secret;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Written atomically. If a power cut loses it, the next start creates and sets another. */
async function createSecret(dataDir: string): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  const path = join(dataDir, PASSWORD_FILE);
  await rm(`${path}.new`, { force: true });
  const file = await open(`${path}.new`, "wx", OWNER_ONLY);
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  await syncPath(dataDir);
  return secret;
}
