import { isDeepStrictEqual } from "node:util";
import type { ApiKey } from "../../domain/identity/api-key.ts";
import { type Plan, requestsPerMinute } from "../../domain/identity/plan.ts";
import type { Member } from "../../domain/identity/team.ts";
import { readLabel } from "../../domain/label.ts";
import type { OwnLimits } from "../../domain/limits.ts";
import { formatId } from "../../domain/public-id.ts";
import { listMembers } from "../../store/identity/members.ts";
import { type DirectoryEntry, listDirectory, updatePlan } from "../../store/identity/team-directory.ts";
import { firstTeam, lockTeam } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { hintText, sendHints } from "../../store/tasks/hints.ts";
import { listTeamKeys } from "../access/api-key-service.ts";
import { recordChange } from "../audit/audit.ts";
import { createTeam } from "../people/team-service.ts";
import { findOperatorsTeam, operatorOf, refusal } from "./operator-directory.ts";
import { ensureRole, readAddress } from "./operator-members.ts";

export interface TeamSummary {
  /** `team_…`. */
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Null is no limit. */
  readonly requestsPerMinute: number | null;
  /** Limits that replace those of its plan; null if there are none. */
  readonly ownLimits: OwnLimits | null;
  readonly members: number;
  readonly activeKeys: number;
  readonly createdAt: Date;
}

export interface TeamDetail {
  readonly team: TeamSummary;
  readonly members: readonly Member[];
  readonly apiKeys: readonly ApiKey[];
}

/** Far beyond the capacity of one database: a larger figure is a typo. */
const MOST_PER_MINUTE = 10_000_000;

export async function listTeams(sql: Sql): Promise<TeamSummary[]> {
  return (await listDirectory(sql)).map(summarise);
}

export async function showTeam(sql: Sql, text: string): Promise<TeamDetail> {
  const entry = await findOperatorsTeam(sql, text);
  return {
    team: summarise(entry),
    members: await listMembers(sql, entry.teamId),
    apiKeys: await listTeamKeys(sql, entry.teamId),
  };
}

export interface NewTeam {
  readonly name: string;
  readonly plan: Plan;
  readonly perMinute: number | null;
  /** May sign in as its owner. */
  readonly owner: string | null;
}

export async function createOperatorsTeam(
  database: Database,
  userName: string,
  { name, plan, perMinute, owner }: NewTeam,
): Promise<TeamSummary> {
  const label = readLabel("The name of a team", name);
  requirePerMinute(plan, perMinute);
  const email = owner === null ? null : readAddress(owner);
  return database.transaction(async (sql) => {
    // The first team becomes the operator's own, with a key that the first start prints.
    if ((await firstTeam(sql)) === null)
      throw refusal("Start Bellhop on this database first, then add teams");
    const teamId = await createTeam(sql, label, plan);
    const operator = operatorOf(teamId, userName);
    if (perMinute !== null) await updatePlan(sql, teamId, plan, perMinute, null);
    const { id } = await lockTeam(sql, teamId);
    const detail = { name: label, plan, requestsPerMinute: requestsPerMinute(plan, perMinute) };
    await recordChange(sql, operator, { action: "team.created", target: formatId("team", id), detail });
    if (email !== null) await ensureRole(sql, operator, email, "owner");
    return summarise(await findOperatorsTeam(sql, formatId("team", id)));
  });
}

export interface PlanChange {
  readonly plan: Plan;
  readonly perMinute: number | null;
  /** Default: those of the plan. */
  readonly ownLimits?: OwnLimits | null;
}

/** A running server applies the new plan within a second. */
export async function changePlan(
  database: Database,
  userName: string,
  text: string,
  { plan, perMinute, ownLimits = null }: PlanChange,
): Promise<{ before: TeamSummary; after: TeamSummary }> {
  requirePerMinute(plan, perMinute);
  return database.transaction(async (sql) => {
    const { teamId, publicId } = await findOperatorsTeam(sql, text);
    const id = formatId("team", publicId);
    await lockTeam(sql, teamId);
    // Read again: the transaction that held the lock may have changed it.
    const before = summarise(await findOperatorsTeam(sql, id));
    const after = { ...before, plan, requestsPerMinute: requestsPerMinute(plan, perMinute), ownLimits };
    if (isDeepStrictEqual(planOf(before), planOf(after))) return { before, after };
    await updatePlan(sql, teamId, plan, perMinute, ownLimits);
    await sendHints(sql, [hintText({ kind: "team", teamId, queue: "-" }, 0)]);
    const detail = { from: planOf(before), to: planOf(after) };
    await recordChange(sql, operatorOf(teamId, userName), {
      action: "team.plan_changed",
      target: id,
      detail,
    });
    return { before, after };
  });
}

function requirePerMinute(plan: Plan, perMinute: number | null): void {
  if (perMinute === null) return;
  if (plan !== "enterprise")
    throw refusal(`The plan ${plan} has its own limit; only enterprise takes another`);
  if (!Number.isInteger(perMinute) || perMinute < 1 || perMinute > MOST_PER_MINUTE)
    throw refusal(`Requests per minute must be a whole number between 1 and ${MOST_PER_MINUTE}`);
}

function planOf({ plan, requestsPerMinute, ownLimits }: TeamSummary): object {
  return { plan, requestsPerMinute, ...(ownLimits !== null && { limits: ownLimits }) };
}

function summarise(entry: DirectoryEntry): TeamSummary {
  const { publicId, name, plan, customPerMinute, ownLimits, members, activeKeys, createdAt } = entry;
  return {
    id: formatId("team", publicId),
    name,
    plan,
    requestsPerMinute: requestsPerMinute(plan, customPerMinute),
    ownLimits,
    members,
    activeKeys,
    createdAt,
  };
}
