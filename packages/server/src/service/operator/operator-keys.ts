import type { ApiKey, MintedApiKey, RevokedApiKey } from "../../domain/identity/api-key.ts";
import { readLabel } from "../../domain/label.ts";
import { Problem } from "../../domain/problem.ts";
import { parseId } from "../../domain/public-id.ts";
import { lockSessionKeys } from "../../store/identity/session-keys.ts";
import { findTeamOfKey } from "../../store/identity/team-directory.ts";
import { firstTeam } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { listTeamKeys, mintApiKey, revokeTeamKey } from "../access/api-key-service.ts";
import { rotateSessionKey } from "../access/session-keys.ts";
import { recordChange } from "../audit/audit.ts";
import { findOperatorsTeam, operatorOf, refusal } from "./operator-directory.ts";

export async function createOperatorsKey(
  database: Database,
  userName: string,
  text: string,
  { name, environment }: Pick<ApiKey, "name" | "environment">,
): Promise<{ team: string; apiKey: MintedApiKey }> {
  const label = readLabel("The name of a key", name);
  return database.transaction(async (sql) => {
    const { teamId, name: team } = await findOperatorsTeam(sql, text);
    return { team, apiKey: await mintApiKey(sql, operatorOf(teamId, userName), label, environment) };
  });
}

export async function listOperatorsKeys(sql: Sql, text: string): Promise<readonly ApiKey[]> {
  return listTeamKeys(sql, (await findOperatorsTeam(sql, text)).teamId);
}

/** An id says enough: keys of all teams differ in it. */
export async function revokeOperatorsKey(
  database: Database,
  userName: string,
  keyId: string,
): Promise<{ team: string; apiKey: RevokedApiKey }> {
  return database.transaction(async (sql) => {
    const id = parseId("key", keyId);
    const found = id === null ? null : await findTeamOfKey(sql, id);
    if (found === null) throw new Problem("api_key_not_found");
    const { teamId, team } = found;
    return { team, apiKey: await revokeTeamKey(sql, operatorOf(teamId, userName), keyId) };
  });
}

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
