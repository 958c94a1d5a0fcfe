import { insertApiKey, restoreKey, revokeOtherKeys } from "../store/api-keys.ts";
import type { Database, Sql } from "../store/sql.ts";
import { firstTeam, OPERATOR_TEAM } from "../store/teams.ts";
import { ensureMember } from "../store/users.ts";
import { newUuid } from "./public-id.ts";
import { hashSecret, newSecret } from "./secret-hash.ts";
import { createTeam } from "./team-creation.ts";

/** An arbitrary number that all nodes agree on: two first starts at once must make one team. */
const OPERATOR_LOCK = 7_305_814;
const SET_KEY = "BELLHOP_API_KEY";
const FIRST_KEY = "First key";
/** Enough to tell keys apart, far too little to guess the rest. */
const PREFIX_LENGTH = "bh_live_".length + 4;

export interface Operator {
  readonly teamId: number;
  /** The key made by the first start. It is shown once and then known to nobody but its owner. */
  readonly firstKey: string | null;
}

/**
 * Makes the operator's own team on the first start, and puts the key and the owner that the operator has set in force on
 * every one.
 */
export async function ensureOperator(
  database: Database,
  setKey: string | null,
  ownerEmail: string | null = null,
): Promise<Operator> {
  return database.transaction(async (sql) => {
    await sql.rows("select pg_advisory_xact_lock($1)", [OPERATOR_LOCK]);
    const known = await firstTeam(sql);
    const teamId = known ?? (await createTeam(sql, OPERATOR_TEAM, "enterprise"));
    if (ownerEmail !== null) await ensureMember(sql, teamId, newUuid(), ownerEmail, "owner");
    if (setKey !== null) {
      await storeKey(sql, teamId, SET_KEY, setKey);
      await restoreKey(sql, hashSecret(setKey));
      await revokeOtherKeys(sql, teamId, SET_KEY, hashSecret(setKey));
      return { teamId, firstKey: null };
    }
    if (known !== null) return { teamId, firstKey: null };
    const firstKey = `bh_live_${newSecret()}`;
    await storeKey(sql, teamId, FIRST_KEY, firstKey);
    return { teamId, firstKey };
  });
}

async function storeKey(sql: Sql, teamId: number, name: string, key: string): Promise<void> {
  const environment = key.startsWith("bh_test_") ? "test" : "live";
  const prefix = key.slice(0, PREFIX_LENGTH);
  await insertApiKey(sql, { id: newUuid(), teamId, name, environment, prefix, hash: hashSecret(key) });
}
