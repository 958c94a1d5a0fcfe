import type { ApiKey, MintedApiKey, RevokedApiKey } from "../../domain/identity/api-key.ts";
import { readEmail } from "../../domain/identity/email.ts";
import { readLabel } from "../../domain/label.ts";
import { Problem } from "../../domain/problem.ts";
import { parseId } from "../../domain/public-id.ts";
import { isAddressOfMember } from "../../store/identity/members.ts";
import { lockSessionKeys } from "../../store/identity/session-keys.ts";
import { findTeamOfKey } from "../../store/identity/team-directory.ts";
import { firstTeam } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { listTeamKeys, mintApiKey, revokeTeamKey } from "../access/api-key-service.ts";
import { rotateSessionKey } from "../access/session-keys.ts";
import { recordChange } from "../audit/audit.ts";
import { makeSignInLink } from "../people/sign-in-service.ts";
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

/** The id is enough: it is unique over all teams. */
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

/** A sign-in link for an operator without a mail server. A person without a team is accepted only if sign-up is open. */
export async function createOperatorsSignInLink(
  database: Database,
  userName: string,
  text: string,
  { signUp, publicUrl }: { readonly signUp: "open" | "invited"; readonly publicUrl: string },
): Promise<string> {
  const email = readEmail(text);
  if (email === null) throw refusal(`${text} is not a mail address`);
  return database.transaction(async (sql) => {
    const teamId = await operatorsTeam(sql);
    if (signUp === "invited" && !(await isAddressOfMember(sql, email)))
      throw refusal(`${email} is a member of no team: add it to one with bellhop team add`);
    const link = await makeSignInLink(sql, { email, nextPath: null, publicUrl });
    await recordChange(sql, operatorOf(teamId, userName), { action: "sign_in_link.created", target: email });
    return link;
  });
}

/** Belongs to no team: the operator's own team keeps the record. Returns the id of the new key. */
export async function rotateOperatorsSessionKey(database: Database, userName: string): Promise<string> {
  return database.transaction(async (sql) => {
    const teamId = await operatorsTeam(sql);
    await lockSessionKeys(sql);
    const id = await rotateSessionKey(sql);
    await recordChange(sql, operatorOf(teamId, userName), { action: "session_key.rotated", target: id });
    return id;
  });
}

async function operatorsTeam(sql: Sql): Promise<number> {
  const teamId = await firstTeam(sql);
  if (teamId === null) throw refusal("Start Bellhop on this database first");
  return teamId;
}
