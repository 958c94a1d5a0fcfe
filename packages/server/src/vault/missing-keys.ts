import type { Sql } from "../store/sql.ts";
import { secretKeysInUse } from "../store/vault/signing-secrets.ts";
import { tokenKeysInUse } from "../store/vault/vault-tokens.ts";
import type { KeyRing } from "./key-ring.ts";

/** The ids of the keys that active tokens and signing secrets need and that this server does not have. */
export async function findMissingKeys(sql: Sql, keyRing: KeyRing | null): Promise<string[]> {
  const used = new Set([...(await tokenKeysInUse(sql)), ...(await secretKeysInUse(sql))]);
  return [...used].filter((id) => keyRing?.find(id) === undefined);
}
