import { formatId } from "../../domain/public-id.ts";
import { enforceSetKey } from "../../store/identity/api-keys.ts";
import { firstTeam, OPERATOR_TEAM } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { newApiKey, storeApiKey } from "../access/api-key-service.ts";
import { hashSecret } from "../access/secret-hash.ts";
import { recordChange } from "../audit/audit.ts";
import { createTeam } from "../people/team-service.ts";
import { operatorOf } from "./operator-directory.ts";
import { ensureRole } from "./operator-members.ts";

/** An arbitrary number that all nodes agree on: two first starts at once must make one team. */
const OPERATOR_LOCK = 7_305_814;
const SET_KEY = "BELLHOP_API_KEY";
const SET_OWNER = "BELLHOP_OWNER_EMAIL";
const FIRST_KEY = "First key";

export interface OperatorTeam {
  readonly teamId: number;
  /** The key made by the first start. It is shown once and then known to its owner alone. */
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
): Promise<OperatorTeam> {
  return database.transaction(async (sql) => {
    await sql.rows("select pg_advisory_xact_lock($1)", [OPERATOR_LOCK]);
    const known = await firstTeam(sql);
    const teamId = known ?? (await createTeam(sql, OPERATOR_TEAM, "enterprise"));
    if (ownerEmail !== null) await ensureRole(sql, operatorOf(teamId, SET_OWNER), ownerEmail, "owner");
    if (setKey !== null) {
      await putInForce(sql, teamId, setKey);
      return { teamId, firstKey: null };
    }
    if (known !== null) return { teamId, firstKey: null };
    const firstKey = newApiKey("live");
    await storeApiKey(sql, teamId, FIRST_KEY, firstKey);
    return { teamId, firstKey };
  });
}

/** There is no caller, so the audit log names the setting. */
async function putInForce(sql: Sql, teamId: number, setKey: string): Promise<void> {
  const record = (action: string, target: string, name: string) =>
    recordChange(sql, operatorOf(teamId, SET_KEY), { action, target, detail: { name } });
  const stored = await storeApiKey(sql, teamId, SET_KEY, setKey);
  if (stored !== null) await record("api_key.created", stored.id, SET_KEY);
  const turned = await enforceSetKey(sql, teamId, hashSecret(setKey));
  for (const { id, name, isRevoked } of turned)
    await record(isRevoked ? "api_key.revoked" : "api_key.restored", formatId("key", id), name);
}
