import type { Sql } from "../sql.ts";

/** As much of a claim as tells it from every other. */
export interface HeldKey {
  readonly teamId: number;
  readonly id: string;
  readonly fence: number;
}

/** What is told to receivers is claimed row by row, in tables of the same form: these let go of the claims. */
export function heldRows(table: "notifications" | "webhook_deliveries") {
  return {
    /** What the database says this worker delivers, to compare with what it knows of. */
    of: (sql: Sql, workerId: number): Promise<HeldKey[]> =>
      sql.rows<HeldKey>(`select team_id as "teamId", id, fence from ${table} where worker_id = $1`, [
        workerId,
      ]),

    /** Lets go of deliveries that no node makes: the answer to their claim was lost. */
    async release(sql: Sql, deliveries: readonly HeldKey[]): Promise<void> {
      await sql.rows(
        `update ${table} d set worker_id = null, fence = d.fence + 1
           from jsonb_to_recordset($1::jsonb) as r("teamId" integer, id uuid, fence integer)
          where d.team_id = r."teamId" and d.id = r.id and d.fence = r.fence`,
        [JSON.stringify(deliveries.map(({ teamId, id, fence }) => ({ teamId, id, fence })))],
      );
    },

    /** Lets go of deliveries whose worker is no more. */
    async reap(sql: Sql): Promise<void> {
      await sql.rows(
        `update ${table} d set worker_id = null, fence = d.fence + 1
          where d.worker_id is not null and not exists (select 1 from workers w where w.id = d.worker_id)`,
      );
    },
  };
}
