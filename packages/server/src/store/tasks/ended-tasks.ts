import { type Sql, statement } from "../sql.ts";
import type { TaskKey } from "./callbacks.ts";

const FIND_ENDED = statement(
  "find_ended",
  `select asked.id
     from jsonb_to_recordset($1::jsonb) as asked(team_id integer, id uuid)
     left join tasks t on t.team_id = asked.team_id and t.id = asked.id
    where t.id is null or t.completed_at is not null`,
  { prepared: true },
);

/** Which of these tasks have ended, or are gone. */
export async function findEnded(sql: Sql, tasks: readonly TaskKey[]): Promise<string[]> {
  const asked = JSON.stringify(tasks.map(({ teamId: team_id, id }) => ({ team_id, id })));
  const rows = await sql.rows<{ id: string }>(FIND_ENDED, [asked]);
  return rows.map(({ id }) => id);
}
