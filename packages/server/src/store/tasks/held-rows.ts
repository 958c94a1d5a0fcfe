import { type Sql, statement } from "../sql.ts";

/** The fields that identify a claim. */
export interface HeldKey {
  readonly teamId: number;
  readonly id: string;
  readonly fence: number;
}

/**
 * Notifications and webhook deliveries are claimed row by row in tables of the same form; these functions release the
 * claims.
 */
export function heldRows(table: "notifications" | "webhook_deliveries") {
  const findHeld = statement(
    `held_${table}`,
    `select team_id as "teamId", id, fence from ${table} where worker_id = $1`,
  );
  const release = statement(
    `release_${table}`,
    `update ${table} d set worker_id = null, fence = d.fence + 1
       from jsonb_to_recordset($1::jsonb) as r("teamId" integer, id uuid, fence integer)
      where d.team_id = r."teamId" and d.id = r.id and d.fence = r.fence`,
  );
  const reap = statement(
    `reap_${table}`,
    // The fence is compared again after a wait for the row: what another node released meanwhile may belong to a worker that is
    // younger than this statement, which does not see it.
    `update ${table} d set worker_id = null, fence = d.fence + 1
       from (select h.team_id, h.id, h.fence from ${table} h
              where h.worker_id is not null and not exists (select 1 from workers w where w.id = h.worker_id)) lost
      where d.team_id = lost.team_id and d.id = lost.id and d.fence = lost.fence`,
  );
  return {
    /** The rows that the database assigns to this worker, to compare with its own list. */
    of: (sql: Sql, workerId: number): Promise<HeldKey[]> => sql.rows<HeldKey>(findHeld, [workerId]),

    /** Releases rows that no node processes: the answer to their claim was lost. */
    async release(sql: Sql, deliveries: readonly HeldKey[]): Promise<void> {
      const keys = deliveries.map(({ teamId, id, fence }) => ({ teamId, id, fence }));
      await sql.rows(release, [JSON.stringify(keys)]);
    },

    /** Releases rows of dead workers. */
    async reap(sql: Sql): Promise<void> {
      await sql.rows(reap);
    },
  };
}
