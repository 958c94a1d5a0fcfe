import { ConfigError, readConfig } from "../config.ts";
import { createDatabase } from "../postgres/database.ts";
import { createPool } from "../postgres/pool.ts";
import { createRotation } from "../vault/rotation.ts";

/**
 * Seals every token with the first key, at once. For a server of one's own; on the embedded database the running server
 * does it by itself, and nobody else can reach it.
 */
export async function rotateVault(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ resealed: number; unreadable: number }> {
  const { databaseUrl, vaultKeys } = readConfig(environment);
  if (databaseUrl === null) {
    throw new ConfigError(
      "Set DATABASE_URL. On the embedded database the server itself seals the tokens anew, within a minute of its start.",
    );
  }
  if (vaultKeys === null || vaultKeys === "off")
    throw new ConfigError("Set BELLHOP_VAULT_KEYS, the new key first");
  const pool = createPool(
    { connectionString: databaseUrl },
    { max: 1, applicationName: "bellhop-cli", onError: () => {} },
  );
  try {
    return await createRotation({ sql: createDatabase(pool), keyRing: vaultKeys }).rotateAll();
  } finally {
    await pool.end();
  }
}
