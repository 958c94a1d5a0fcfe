import { type Sql, statement } from "../../store/sql.ts";

export interface Round {
  /** The number of the last round that began. */
  readonly round: number;
  /** This node may begin it now. */
  readonly isDue: boolean;
  readonly untilNextMs: number;
}

const HOLD_ROUNDS = statement(
  "hold_alert_rounds",
  `with seen as materialized (
     select r.id, now() as at, (r.next_at <= now() and $4) as is_due from alert_rounds r
      where r.holder = $1 or r.held_until < now() for update
   ), moved as (
     select id, at, is_due, at + make_interval(secs => $2) as held_until, at + make_interval(secs => $3) as next_at
       from seen
   )
   update alert_rounds r
      set holder = $1, held_until = m.held_until, round = r.round + m.is_due::integer,
          next_at = case when m.is_due then m.next_at else r.next_at end
     from moved m where r.id = m.id
   returning r.round::float8 as round, m.is_due as "isDue",
             extract(epoch from r.next_at - m.at)::float8 * 1000 as "untilNextMs"`,
);

/**
 * Renews this node's lease on the evaluation, or takes it over if the holder let it expire. Null if another node holds
 * it. With `mayBegin`, a round that is due begins with this call, so no other node begins it too.
 */
export async function holdRounds(
  sql: Sql,
  holder: string,
  leaseSeconds: number,
  everySeconds: number,
  mayBegin: boolean,
): Promise<Round | null> {
  const [row] = await sql.rows<Round>(HOLD_ROUNDS, [holder, leaseSeconds, everySeconds, mayBegin]);
  return row ?? null;
}

const SHARE_ROUND = statement(
  "share_alert_round",
  "select 1 from alert_rounds where holder = $1 and round = $2 for share",
);

/** Whether this round is still the current one. It stays so until the transaction ends. */
export async function shareRound(sql: Sql, holder: string, round: number): Promise<boolean> {
  const rows = await sql.rows(SHARE_ROUND, [holder, round]);
  return rows.length === 1;
}

const TEAMS_WITH_ALERTS = statement(
  "teams_with_alerts",
  `select distinct team_id as "teamId" from alerts where enabled and team_id > $1 order by team_id limit $2`,
  { patience: "list" },
);

/** Teams with an enabled alert, after the given one. */
export async function teamsWithAlerts(sql: Sql, after: number, limit: number): Promise<number[]> {
  const rows = await sql.rows<{ teamId: number }>(TEAMS_WITH_ALERTS, [after, limit]);
  return rows.map(({ teamId }) => teamId);
}
