import type { ApiKey, MintedApiKey, RevokedApiKey } from "../../domain/identity/api-key.ts";
import { readLabel } from "../../domain/label.ts";
import { Problem } from "../../domain/problem.ts";
import { parseId } from "../../domain/public-id.ts";
import { findTeamOfKey } from "../../store/identity/team-directory.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { mintApiKey } from "../access/api-key-creation.ts";
import { listTeamKeys, revokeTeamKey } from "../access/api-key-service.ts";
import { recordChange } from "../audit/audit.ts";
import { findOperatorsTeam, operatorOf } from "./operator-directory.ts";

export async function createOperatorsKey(
  database: Database,
  userName: string,
  text: string,
  { name, environment }: Pick<ApiKey, "name" | "environment">,
): Promise<{ team: string; apiKey: MintedApiKey }> {
  const label = readLabel("The name of a key", name);
  return database.transaction(async (sql) => {
    const { teamId, name: team } = await findOperatorsTeam(sql, text);
    const apiKey = await mintApiKey(sql, teamId, label, environment);
    await recordChange(sql, operatorOf(teamId, userName), {
      action: "api_key.created",
      target: apiKey.id,
      detail: { name: label, environment },
    });
    return { team, apiKey };
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
    const apiKey = await revokeTeamKey(sql, found.teamId, keyId);
    await recordChange(sql, operatorOf(found.teamId, userName), {
      action: "api_key.revoked",
      target: apiKey.id,
      detail: { name: apiKey.name },
    });
    return { team: found.team, apiKey };
  });
}
