import type { Plan } from "../../domain/identity/plan.ts";
import { DEFAULT_QUEUE, QUEUE_DEFAULTS } from "../../domain/queue.ts";
import { insertTeam } from "../../store/identity/teams.ts";
import type { Sql } from "../../store/sql.ts";
import { insertQueue } from "../../store/tasks/queues.ts";
import { newUuid } from "../new-uuid.ts";

/** Every team has the queue `default` from its first moment. Run it in a transaction. */
export async function createTeam(sql: Sql, name: string, plan: Plan): Promise<number> {
  const teamId = await insertTeam(sql, name, plan, newUuid());
  await insertQueue(sql, teamId, DEFAULT_QUEUE, QUEUE_DEFAULTS);
  return teamId;
}
