import type { Limits, LimitsOf, Terms } from "../../domain/limits.ts";
import { findTeamTerms } from "../../store/identity/team-budgets.ts";
import type { Sql } from "../../store/sql.ts";

export interface TeamBudget {
  readonly teamId: number;
  /** Teams of one account are counted together. */
  readonly account: string;
  readonly limits: Limits;
}

/** A person may own several free teams and create more at any time: they share one budget. */
export function createBudgetLookup(sql: Sql, limitsOf: LimitsOf) {
  return async (teamIds: readonly number[]): Promise<TeamBudget[]> => {
    const found = await findTeamTerms(sql, teamIds);
    return found.map(({ teamId, plan, ownLimits, ownerId }) => ({
      teamId,
      account: plan === "free" && ownerId !== null ? `person ${ownerId}` : `team ${teamId}`,
      limits: limitsOf(plan, ownLimits),
    }));
  };
}

/** The current limits of teams, for work without a credential. Deleted teams are omitted. */
export function createTermsLookup(sql: Sql, limitsOf: LimitsOf) {
  return async (
    teamIds: readonly number[],
  ): Promise<ReadonlyMap<number, Terms & { readonly teamId: number }>> => {
    const found = await findTeamTerms(sql, teamIds);
    return new Map(
      found.map(({ teamId, plan, ownLimits }) => [
        teamId,
        { teamId, plan, limits: limitsOf(plan, ownLimits) },
      ]),
    );
  };
}
