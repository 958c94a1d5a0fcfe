import { formatId } from "../../domain/public-id.ts";
import { enforceSetKey, hasEverHadOtherKey } from "../../store/identity/api-keys.ts";
import { listMembers } from "../../store/identity/members.ts";
import { firstTeam, OPERATOR_TEAM } from "../../store/identity/teams.ts";
import { type Database, type Sql, statement } from "../../store/sql.ts";
import { newApiKey, storeApiKey } from "../access/api-key-service.ts";
import { hashSecret } from "../access/secret-hash.ts";
import { recordChange } from "../audit/audit.ts";
import { makeSignInLink } from "../people/sign-in-service.ts";
import { createTeam } from "../people/team-service.ts";
import { operatorOf } from "./operator-directory.ts";
import { ensureRole } from "./operator-members.ts";

/** An advisory lock number shared by all nodes: two concurrent first starts must create one team. */
const OPERATOR_LOCK = 7_305_814;
const LOCK_OPERATOR = statement("lock_operator", "select pg_advisory_xact_lock($1)");
const SET_KEY = "BELLHOP_API_KEY";
const SET_OWNER = "BELLHOP_OWNER_EMAIL";
const FIRST_KEY = "First key";

/** Creates the operator's own team on the first start, and applies the configured key and owner on every start. */
export async function ensureOperator(
  database: Database,
  setKey: string | null,
  ownerEmail: string | null = null,
): Promise<{ readonly teamId: number }> {
  return database.transaction(async (sql) => {
    await sql.rows(LOCK_OPERATOR, [OPERATOR_LOCK]);
    const teamId = (await firstTeam(sql)) ?? (await createTeam(sql, OPERATOR_TEAM, "enterprise"));
    if (ownerEmail !== null) await ensureRole(sql, operatorOf(teamId, SET_OWNER), ownerEmail, "owner");
    if (setKey !== null) await putInForce(sql, teamId, setKey);
    return { teamId };
  });
}

/**
 * Creates the operator's first key, if the team never had one. Must be called by a start that is certain to show it.
 * Called again with the same key, because the answer was lost, it answers the same.
 */
export async function mintFirstKey(database: Database, key = newApiKey("live")): Promise<string | null> {
  return database.transaction(async (sql) => {
    await sql.rows(LOCK_OPERATOR, [OPERATOR_LOCK]);
    const teamId = await firstTeam(sql);
    if (teamId === null || (await hasEverHadOtherKey(sql, teamId, hashSecret(key)))) return null;
    await storeApiKey(sql, teamId, FIRST_KEY, key);
    return key;
  });
}

/**
 * The owner of the operator's team until a person is named: an address that receives no mail, so that no link is sent
 * to a real mailbox.
 */
const LOCAL_OWNER = "operator@bellhop.invalid";
const FIRST_LINK = "First start";

/**
 * A sign-in link for the owner of the operator's team, shown by the start. Only for a server that only its own machine
 * can reach.
 */
export async function makeFirstLink(database: Database, publicUrl: string): Promise<string | null> {
  return database.transaction(async (sql) => {
    await sql.rows(LOCK_OPERATOR, [OPERATOR_LOCK]);
    const teamId = await firstTeam(sql);
    if (teamId === null) return null;
    const owner = (await listMembers(sql, teamId)).find(({ role }) => role === "owner");
    if (owner === undefined) await ensureRole(sql, operatorOf(teamId, FIRST_LINK), LOCAL_OWNER, "owner");
    return makeSignInLink(sql, { email: owner?.email ?? LOCAL_OWNER, nextPath: null, publicUrl });
  });
}

/** Without a caller, the audit log names the setting. */
async function putInForce(sql: Sql, teamId: number, setKey: string): Promise<void> {
  const record = (action: string, target: string, name: string) =>
    recordChange(sql, operatorOf(teamId, SET_KEY), { action, target, detail: { name } });
  const stored = await storeApiKey(sql, teamId, SET_KEY, setKey);
  if (stored !== null) await record("api_key.created", stored.id, SET_KEY);
  const turned = await enforceSetKey(sql, teamId, hashSecret(setKey));
  for (const { id, name, isRevoked } of turned)
    await record(isRevoked ? "api_key.revoked" : "api_key.restored", formatId("key", id), name);
}
