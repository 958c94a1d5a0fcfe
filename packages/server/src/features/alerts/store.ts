import type { PageRequest } from "../../domain/page.ts";
import { columns } from "../../store/columns.ts";
import { type Sql, statement } from "../../store/sql.ts";
import type { Alert, AlertCondition, AlertStanding, AlertTerms } from "./domain.ts";

/** An alert without its channels. */
export type StoredAlert = Omit<Alert, "notify">;

type AlertRow = Omit<StoredAlert, "when"> & Omit<AlertCondition, "for"> & { readonly forSeconds: number };

const ALERT = `${columns(
  "a",
  "team_id, id, name, kind, queue, threshold, for_seconds, enabled, state, value, held_since, last_fired_at, told_at, created_at, updated_at",
)}, a.within_seconds as within`;

function toAlert({ kind, queue, threshold, within, forSeconds, ...row }: AlertRow): StoredAlert {
  return { ...row, when: { kind, queue, threshold, within, for: forSeconds } };
}

const INSERT_ALERT = statement(
  "insert_alert",
  `insert into alerts as a (team_id, id, name, kind, queue, threshold, within_seconds, for_seconds, enabled)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${ALERT}`,
);

export async function insertAlert(
  sql: Sql,
  teamId: number,
  id: string,
  { name, when, enabled }: Omit<AlertTerms, "notify">,
): Promise<StoredAlert> {
  const { kind, queue, threshold, within } = when;
  const values = [teamId, id, name, kind, queue, threshold, within, when.for, enabled];
  const [row] = await sql.rows<AlertRow>(INSERT_ALERT, values);
  if (row === undefined) throw new Error("The alert was not stored");
  return toAlert(row);
}

const UPDATE_ALERT = statement(
  "update_alert",
  `with asked as (select now() as at)
   update alerts a
      set name = $3, kind = $4, queue = $5, threshold = $6, within_seconds = $7, for_seconds = $8, enabled = $9,
          state = case when $10 then 'ok' else a.state end, value = case when $10 then null else a.value end,
          held_since = case when $10 then null else a.held_since end,
          told_at = case when $10 then null else a.told_at end, updated_at = asked.at
     from asked where a.team_id = $1 and a.id = $2 returning ${ALERT}`,
);

/** `restarts`: the alert returns to `ok`, as if it had just been created. */
export async function updateAlert(
  sql: Sql,
  { teamId, id, name, when, enabled }: StoredAlert,
  restarts: boolean,
): Promise<StoredAlert | null> {
  const { kind, queue, threshold, within } = when;
  const values = [teamId, id, name, kind, queue, threshold, within, when.for, enabled, restarts];
  const [row] = await sql.rows<AlertRow>(UPDATE_ALERT, values);
  return row === undefined ? null : toAlert(row);
}

const DELETE_ALERT = statement(
  "delete_alert",
  `with gone as (delete from alerts where team_id = $1 and id = $2 returning *)
   select ${ALERT} from gone a`,
);

/** Its channels are left to `removeChannels`. */
export async function deleteAlert(sql: Sql, teamId: number, id: string): Promise<StoredAlert | null> {
  const [row] = await sql.rows<AlertRow>(DELETE_ALERT, [teamId, id]);
  return row === undefined ? null : toAlert(row);
}

const FIND_ALERT = statement(
  "find_alert",
  `select ${ALERT} from alerts a where a.team_id = $1 and a.id = $2`,
);
const LOCK_ALERT = statement(
  "lock_alert",
  `select ${ALERT} from alerts a where a.team_id = $1 and a.id = $2 for update`,
);

/** In a transaction that changes it, `lock` makes evaluations and other changes wait. */
export async function findAlert(
  sql: Sql,
  teamId: number,
  id: string,
  { lock = false } = {},
): Promise<StoredAlert | null> {
  const [row] = await sql.rows<AlertRow>(lock ? LOCK_ALERT : FIND_ALERT, [teamId, id]);
  return row === undefined ? null : toAlert(row);
}

const LIST_ALERTS = statement(
  "list_alerts",
  `select ${ALERT} from alerts a where a.team_id = $1 and ($2::uuid is null or a.id < $2)
    order by a.id desc limit $3`,
);

/** Newest first, before the given one. */
export async function listAlerts(
  sql: Sql,
  teamId: number,
  { limit, cursor }: PageRequest,
): Promise<StoredAlert[]> {
  return (await sql.rows<AlertRow>(LIST_ALERTS, [teamId, cursor, limit])).map(toAlert);
}

const COUNT_ALERTS = statement(
  "count_alerts",
  "select count(*)::integer as count from alerts where team_id = $1",
);

export async function countAlerts(sql: Sql, teamId: number): Promise<number> {
  const [row] = await sql.rows<{ count: number }>(COUNT_ALERTS, [teamId]);
  return row?.count ?? 0;
}

const ENABLED_ALERTS = statement(
  "enabled_alerts",
  `select ${ALERT} from alerts a where a.team_id = $1 and a.enabled order by a.id`,
);

export async function enabledAlerts(sql: Sql, teamId: number): Promise<StoredAlert[]> {
  return (await sql.rows<AlertRow>(ENABLED_ALERTS, [teamId])).map(toAlert);
}

const LOCK_ENABLED_ALERTS = statement(
  "lock_enabled_alerts",
  `select ${ALERT}, now() as now from alerts a where a.team_id = $1 and a.enabled order by a.id for update`,
);

/** As they are now; changes wait until the transaction ends. `now` is the database's time. */
export async function lockEnabledAlerts(
  sql: Sql,
  teamId: number,
): Promise<{ readonly alerts: readonly StoredAlert[]; readonly now: Date }> {
  const rows = await sql.rows<AlertRow & { readonly now: Date }>(LOCK_ENABLED_ALERTS, [teamId]);
  return { alerts: rows.map(({ now: _, ...row }) => toAlert(row)), now: rows[0]?.now ?? new Date(0) };
}

const WRITE_STANDINGS = statement(
  "write_alert_standings",
  `update alerts a
      set state = s.state, value = s.value, held_since = s."heldSince", last_fired_at = s."lastFiredAt",
          told_at = s."toldAt"
     from jsonb_to_recordset($2::jsonb) as s(id uuid, state text, value double precision, "heldSince" timestamptz,
                                             "lastFiredAt" timestamptz, "toldAt" timestamptz)
    where a.team_id = $1 and a.id = s.id`,
);

export async function writeStandings(
  sql: Sql,
  teamId: number,
  standings: readonly (AlertStanding & { readonly id: string })[],
): Promise<void> {
  const rows = standings.map(({ id, state, value, heldSince, lastFiredAt, toldAt }) => ({
    id,
    state,
    value,
    heldSince,
    lastFiredAt,
    toldAt,
  }));
  await sql.rows(WRITE_STANDINGS, [teamId, JSON.stringify(rows)]);
}
