import { lockSessionKeys } from "../../store/identity/session-keys.ts";
import { firstTeam } from "../../store/identity/teams.ts";
import type { Database } from "../../store/sql.ts";
import { rotateSessionKey } from "../access/session-keys.ts";
import { recordChange } from "../audit/audit.ts";
import { operatorOf, refusal } from "./operator-directory.ts";

/** Of no team and of all: the operator's own team keeps the record. Returns the id of the new key. */
export async function rotateOperatorsSessionKey(database: Database, userName: string): Promise<string> {
  return database.transaction(async (sql) => {
    const teamId = await firstTeam(sql);
    if (teamId === null) throw refusal("Start Bellhop on this database first");
    await lockSessionKeys(sql);
    const id = await rotateSessionKey(sql);
    await recordChange(sql, operatorOf(teamId, userName), { action: "session_key.rotated", target: id });
    return id;
  });
}
