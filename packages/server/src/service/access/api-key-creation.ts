import { type ApiKey, type MintedApiKey, MOST_ACTIVE_KEYS } from "../../domain/identity/api-key.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import { countActiveKeys, insertApiKey } from "../../store/identity/api-keys.ts";
import { lockTeam } from "../../store/identity/teams.ts";
import type { Sql } from "../../store/sql.ts";
import { newUuid } from "../new-uuid.ts";
import { hashSecret, newSecret } from "./secret-hash.ts";

/** Enough to tell keys apart, far too little to guess the rest. */
const PREFIX_LENGTH = "bh_live_".length + 4;

/**
 * Makes a new key for a team. Run it in a transaction: the team is locked until its end, so that two who ask at once
 * cannot both take the last place.
 */
export async function mintApiKey(
  sql: Sql,
  teamId: number,
  name: string,
  environment: ApiKey["environment"],
): Promise<MintedApiKey> {
  await lockTeam(sql, teamId);
  if ((await countActiveKeys(sql, teamId)) >= MOST_ACTIVE_KEYS)
    throw new Problem("api_keys_full", { limit: String(MOST_ACTIVE_KEYS) });
  const key = `bh_${environment}_${newSecret()}`;
  const stored = await storeApiKey(sql, teamId, name, key);
  if (stored === null) throw new Error("A new key was known already");
  return { ...stored, key };
}

/** Stores a key that someone else chose. Null when it is stored already. */
export async function storeApiKey(
  sql: Sql,
  teamId: number,
  name: string,
  key: string,
): Promise<Omit<MintedApiKey, "key"> | null> {
  const environment = key.startsWith("bh_test_") ? "test" : "live";
  const prefix = key.slice(0, PREFIX_LENGTH);
  const id = newUuid();
  const createdAt = await insertApiKey(sql, { id, teamId, name, environment, prefix, hash: hashSecret(key) });
  return createdAt === null ? null : { id: formatId("key", id), name, environment, prefix, createdAt };
}
