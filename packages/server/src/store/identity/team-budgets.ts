import type { Plan } from "../../domain/identity/plan.ts";
import type { OwnLimits } from "../../domain/limits.ts";
import { type Sql, statement } from "../sql.ts";

/** The plan and limits of a team, and its owner. */
export interface TeamTerms {
  readonly teamId: number;
  readonly plan: Plan;
  readonly ownLimits: OwnLimits | null;
  /** The first of its owners; null if it has none. */
  readonly ownerId: string | null;
}

const FIND_TEAM_TERMS = statement(
  "find_team_terms",
  `select t.id as "teamId", t.plan, t.limits as "ownLimits",
          (select m.user_id from team_members m where m.team_id = t.id and m.role = 'owner'
            order by m.joined_at, m.user_id limit 1) as "ownerId"
     from teams t where t.id = any ($1::integer[])`,
  { prepared: true },
);

/** For the engine, which works for all teams. */
export async function findTeamTerms(sql: Sql, teamIds: readonly number[]): Promise<TeamTerms[]> {
  return sql.rows<TeamTerms>(FIND_TEAM_TERMS, [teamIds]);
}
