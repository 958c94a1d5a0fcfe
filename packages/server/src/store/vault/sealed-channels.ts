import { type Sql, statement } from "../sql.ts";

/** The URL of an alert's channel. */
export interface SealedChannel {
  readonly teamId: number;
  readonly id: string;
  readonly sealed: Buffer;
}

const PAGE_OF_CHANNELS = statement(
  "page_of_alert_channels",
  `select team_id as "teamId", id, sealed from alert_channels
    where sealed is not null and ($1::integer is null or (team_id, id) > ($1, $2::uuid))
    order by team_id, id limit $3`,
);

/** The next sealed channels after one, over all teams. */
export async function pageOfChannels(
  sql: Sql,
  after: Pick<SealedChannel, "teamId" | "id"> | null,
  limit: number,
): Promise<SealedChannel[]> {
  return sql.rows<SealedChannel>(PAGE_OF_CHANNELS, [after?.teamId ?? null, after?.id ?? null, limit]);
}

const RESEAL_CHANNEL = statement(
  "reseal_alert_channel",
  "update alert_channels set sealed = $4 where team_id = $1 and id = $2 and sealed = $3 returning id",
);

/** False if the channel is gone. */
export async function resealChannel(sql: Sql, from: SealedChannel, sealed: Buffer): Promise<boolean> {
  const rows = await sql.rows(RESEAL_CHANNEL, [from.teamId, from.id, from.sealed, sealed]);
  return rows.length === 1;
}
