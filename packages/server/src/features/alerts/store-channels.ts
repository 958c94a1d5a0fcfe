import { columns } from "../../store/columns.ts";
import { type Sql, statement } from "../../store/sql.ts";
import type { AlertChannel } from "./domain.ts";

export interface StoredChannel extends AlertChannel {
  readonly alertId: string;
}

const CHANNEL = columns("c", "id, alert_id, kind, target, last_error, last_sent_at");

const READ_CHANNELS = statement(
  "read_alert_channels",
  `select ${CHANNEL} from alert_channels c where c.team_id = $1 and c.alert_id = any($2::uuid[])
    order by c.alert_id, c.position`,
);

/** In the order in which they were given. */
export async function readChannelsOf(
  sql: Sql,
  teamId: number,
  alertIds: readonly string[],
): Promise<StoredChannel[]> {
  if (alertIds.length === 0) return [];
  return sql.rows<StoredChannel>(READ_CHANNELS, [teamId, alertIds]);
}

/** The place of a channel in its alert's list. */
interface Place {
  readonly id: string;
  readonly position: number;
}

export interface ChannelToStore extends Place, Pick<AlertChannel, "kind" | "target"> {
  readonly sealed: Buffer | null;
}

const INSERT_CHANNELS = statement(
  "insert_alert_channels",
  `insert into alert_channels (team_id, id, alert_id, position, kind, target, sealed)
   select $1, n.id, $2, n.position, n.kind, n.target, decode(n.sealed, 'base64')
     from jsonb_to_recordset($3::jsonb) as n(id uuid, position integer, kind text, target text, sealed text)`,
);

export async function insertChannels(
  sql: Sql,
  teamId: number,
  alertId: string,
  channels: readonly ChannelToStore[],
): Promise<void> {
  const rows = channels.map(({ sealed, ...channel }) => ({
    ...channel,
    sealed: sealed?.toString("base64") ?? null,
  }));
  if (rows.length > 0) await sql.rows(INSERT_CHANNELS, [teamId, alertId, JSON.stringify(rows)]);
}

const MOVE_CHANNELS = statement(
  "move_alert_channels",
  `update alert_channels c set position = n.position
     from jsonb_to_recordset($2::jsonb) as n(id uuid, position integer)
    where c.team_id = $1 and c.id = n.id`,
);

/** The new places of channels that the alert has already. */
export async function moveChannels(sql: Sql, teamId: number, places: readonly Place[]): Promise<void> {
  if (places.length > 0) await sql.rows(MOVE_CHANNELS, [teamId, JSON.stringify(places)]);
}

const REMOVE_CHANNELS = statement(
  "remove_alert_channels",
  `with gone as (
     delete from alert_channels where team_id = $1 and alert_id = $2 and not id = any($3::uuid[]) returning team_id, id
   )
   delete from alert_messages m using gone g where m.team_id = g.team_id and m.channel_id = g.id`,
);

/** Removes all channels of an alert but these, with their messages. */
export async function removeChannels(
  sql: Sql,
  teamId: number,
  alertId: string,
  kept: readonly string[],
): Promise<void> {
  await sql.rows(REMOVE_CHANNELS, [teamId, alertId, kept]);
}
