import { type Sql, statement } from "../../store/sql.ts";
import { dueTeams, type TeamRoom } from "../../store/tasks/due-teams.ts";
import type { ChannelKind } from "./domain.ts";
import type { AlertMessage } from "./domain-messages.ts";

export interface NewMessage {
  readonly id: string;
  readonly messageId: string;
  readonly channelId: string;
  readonly message: AlertMessage;
}

const INSERT_MESSAGES = statement(
  "insert_alert_messages",
  `insert into alert_messages (team_id, id, message_id, channel_id, type, body)
   select $1, n.id, n."messageId", n."channelId", n.message->>'type', n.message
     from json_to_recordset($2::json) as n(id uuid, "messageId" uuid, "channelId" uuid, message json)
    where (select count(*) from (select 1 from alert_messages w
                                  where w.team_id = $1 and w.channel_id = n."channelId" limit $3) waiting) < $3
      and (n.message->>'type' <> 'alert.test' or not exists (
            select 1 from alert_messages w
             where w.team_id = $1 and w.channel_id = n."channelId" and w.type = 'alert.test'))`,
);

/** A channel that has so many undelivered messages gets no more: it has been failing for hours. */
const MOST_WAITING = 50;

/** A channel that has not received its last test yet gets no other. */
export async function insertMessages(
  sql: Sql,
  teamId: number,
  messages: readonly NewMessage[],
): Promise<void> {
  if (messages.length > 0) await sql.rows(INSERT_MESSAGES, [teamId, JSON.stringify(messages), MOST_WAITING]);
}

/** A node's right to deliver one message to one channel, until the claim expires. */
export interface MessageClaim {
  readonly teamId: number;
  readonly id: string;
  readonly messageId: string;
  readonly channelId: string;
  readonly body: AlertMessage;
  readonly fence: number;
  /** Including this one. */
  readonly attempt: number;
  readonly kind: ChannelKind;
  readonly target: string;
  readonly sealed: Buffer | null;
}

export const teamsWithDueMessages = dueTeams(
  "teams_with_due_alert_messages",
  "next_at",
  "alert_messages where true",
);

/**
 * A message waits for the earlier ones of its channel, so that nobody reads "firing" after "resolved". A test does not
 * wait, because somebody is looking for it.
 */
const CLAIM_MESSAGES = statement(
  "claim_alert_messages",
  `with expiry as (
     select now() + make_interval(secs => $2) as at
   ), picked as (
     select p.team_id, p.id
       from jsonb_to_recordset($1::jsonb) as r("teamId" integer, most integer)
       cross join lateral (
         select m.team_id, m.id from alert_messages m
          where m.team_id = r."teamId" and m.next_at <= now()
            and (m.type = 'alert.test' or not exists (
                  select 1 from alert_messages e
                   where e.team_id = m.team_id and e.channel_id = m.channel_id and e.seq < m.seq
                     and e.type <> 'alert.test'))
          order by m.next_at, m.seq limit r.most for update skip locked
       ) p
   ), claimed as (
     update alert_messages m set attempts = m.attempts + 1, fence = m.fence + 1, next_at = expiry.at
       from picked, expiry where m.team_id = picked.team_id and m.id = picked.id
     returning m.*
   )
   select m.team_id as "teamId", m.id, m.message_id as "messageId", m.channel_id as "channelId", m.body, m.fence,
          m.attempts as attempt, c.kind, c.target, c.sealed
     from claimed m join alert_channels c on c.team_id = m.team_id and c.id = m.channel_id`,
);

export async function claimMessages(
  sql: Sql,
  rooms: readonly TeamRoom[],
  claimSeconds: number,
): Promise<MessageClaim[]> {
  return sql.rows<MessageClaim>(CLAIM_MESSAGES, [JSON.stringify(rooms), claimSeconds]);
}

const POSTPONE_MESSAGE = statement(
  "postpone_alert_message",
  `with failed as (
     update alert_messages set next_at = now() + make_interval(secs => $4::float8 / 1000), fence = fence + 1
      where team_id = $1 and id = $2 and fence = $3 returning team_id, channel_id
   )
   update alert_channels c set last_error = $5 from failed f where c.team_id = f.team_id and c.id = f.channel_id`,
);

/** Nothing changes if another node has claimed it since. */
export async function postponeMessage(
  sql: Sql,
  { teamId, id, fence }: MessageClaim,
  waitMs: number,
  error: string,
): Promise<void> {
  await sql.rows(POSTPONE_MESSAGE, [teamId, id, fence, waitMs, error]);
}

const END_MESSAGE = statement(
  "end_alert_message",
  `with asked as (
     select now() as at
   ), ended as (
     delete from alert_messages where team_id = $1 and id = $2 and fence = $3 returning team_id, channel_id
   )
   update alert_channels c
      set last_error = $4, last_sent_at = case when $4::text is null then a.at else c.last_sent_at end
     from ended e, asked a where c.team_id = e.team_id and c.id = e.channel_id`,
);

/** Delivered, or given up with an error. */
export async function endMessage(
  sql: Sql,
  { teamId, id, fence }: MessageClaim,
  error: string | null,
): Promise<void> {
  await sql.rows(END_MESSAGE, [teamId, id, fence, error]);
}
