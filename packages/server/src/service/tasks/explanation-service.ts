import type { Principal } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import { type EstimatedExplanation, explainWithEstimate } from "../../domain/start-estimate.ts";
import type { Sql } from "../../store/sql.ts";
import { findCircumstances } from "../../store/tasks/explanations.ts";

export interface ExplanationService {
  explain(principal: Principal, id: string): Promise<EstimatedExplanation>;
}

export function createExplanationService(deps: {
  readonly sql: Sql;
  /** This node has slots of the queue, but no capacity for another call of the team. */
  readonly isCrowded: (teamId: number, queue: string) => boolean;
}): ExplanationService {
  return {
    async explain(principal, id) {
      const circumstances = await findCircumstances(deps.sql, principal, id);
      if (circumstances === null) throw new Problem("task_not_found");
      return explainWithEstimate(circumstances, deps.isCrowded(principal.teamId, circumstances.queue));
    },
  };
}
