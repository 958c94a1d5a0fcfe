import { ConfigError, readConfig } from "../config.ts";
import { createRotation } from "../vault/rotation.ts";
import { withOperatorDatabase } from "./operator-database.ts";

/** Seals every token with the first key, at once. A running server does the same by itself, within minutes. */
export async function rotateVault(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ resealed: number; unreadable: number }> {
  const config = readConfig(environment);
  const { vaultKeys } = config;
  if (vaultKeys === null || vaultKeys === "off")
    throw new ConfigError("Set BELLHOP_VAULT_KEYS, the new key first");
  return withOperatorDatabase(config, (database) =>
    createRotation({ sql: database, keyRing: vaultKeys }).rotateAll(),
  );
}
