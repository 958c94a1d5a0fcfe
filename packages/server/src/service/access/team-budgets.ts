import type { Limits, LimitsOf, Terms } from "../../domain/limits.ts";
import { findTeamTerms } from "../../store/identity/team-budgets.ts";
import type { Sql } from "../../store/sql.ts";

export interface TeamBudget {
  readonly teamId: number;
  /** Teams of one account are counted together. */
  readonly account: string;
  readonly limits: Limits;
}

/** A person may own several free teams, and makes another in a moment: they have one budget together. */
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

/** What a team may do now, for what is done in its name without a credential. Null if there is no such team. */
export function createTermsLookup(sql: Sql, limitsOf: LimitsOf) {
  return async (teamId: number): Promise<(Terms & { readonly teamId: number }) | null> => {
    const [found] = await findTeamTerms(sql, [teamId]);
    return found === undefined
      ? null
      : { teamId, plan: found.plan, limits: limitsOf(found.plan, found.ownLimits) };
  };
}
