import type { Call } from "../../domain/call.ts";
import type { Claim } from "../../domain/claim.ts";
import type { Message } from "../../domain/message.ts";
import { type Sql, statement } from "../sql.ts";

/** A message that failed because its worker was lost, or because its queue was deleted. */
export interface ReturnedMessage
  extends Pick<
    Claim,
    "teamId" | "id" | "queueId" | "queue" | "call" | "failures" | "maxRetries" | "attempt"
  > {
  readonly message: Message;
  readonly error: string;
}

const READ_RETURNED_MESSAGES = statement(
  "read_returned_messages",
  `select t.team_id as "teamId", t.id, t.queue_id::float8 as "queueId", q.name as queue, t.method, t.url, t.headers, t.body,
          t.failures, t.max_retries as "maxRetries", t.attempt_count as attempt, t.message, t.error
     from unnest($1::integer[], $2::uuid[]) as r(team_id, id)
     join tasks t on t.team_id = r.team_id and t.id = r.id
     join queues q on q.team_id = t.team_id and q.id = t.queue_id
    where t.message is not null`,
  { patience: "chore" },
);

type Row = Omit<ReturnedMessage, "call"> &
  Omit<Call, "headers"> & { readonly headers: Call["headers"] | null };

export async function readReturnedMessages(
  sql: Sql,
  tasks: readonly { readonly teamId: number; readonly id: string }[],
): Promise<ReturnedMessage[]> {
  const rows = await sql.rows<Row>(READ_RETURNED_MESSAGES, [
    tasks.map(({ teamId }) => teamId),
    tasks.map(({ id }) => id),
  ]);
  return rows.map(({ method, url, headers, body, ...row }) => ({
    ...row,
    call: { method, url, headers: headers ?? {}, body },
  }));
}
