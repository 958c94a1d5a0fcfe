import type { Call } from "../../domain/call.ts";
import type { Reach } from "../../domain/reach.ts";
import type { StoredCallback } from "../../domain/task.ts";
import type { CorrectableField } from "../../domain/task-correction.ts";
import { type Sql, statement } from "../sql.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";

/** A checked correction. */
export interface Corrected {
  readonly fields: readonly CorrectableField[];
  readonly body?: { readonly text: string };
  readonly bodyIsJson: boolean;
  /** The key of its flow: that of the corrected call, if it is named after that. */
  readonly flow: string | null;
  readonly headers?: Call["headers"];
  readonly url?: string;
  /** For a call that contains the id of its callback, if the earlier one did not. */
  readonly callback: StoredCallback | null;
}

/** The record says so much of earlier corrections. */
const MOST_KEPT = 50;

const CORRECT_TASK = statement(
  "correct_task",
  `with found as (
     select f.team_id, f.id, coalesce(f.retried_with, '[]') as earlier,
            jsonb_build_array(jsonb_build_object('at', to_char(
              (now() + make_interval(secs => ${aheadSeconds()})) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'fields', $4::jsonb)) as entry
       from tasks f ${withClock("f")}
      where f.team_id = $1 and f.id = $2 and ($3 = 'live' or f.sandbox) and f.status in ('failed', 'cancelled')
        for update of f
   ), known as (
     insert into flows (team_id, sandbox, key)
     select f.team_id, t.sandbox, $11 from found f join tasks t on t.team_id = f.team_id and t.id = f.id where $11::text is not null
     on conflict do nothing
   )
   update tasks t
      set url = coalesce($5, t.url),
          headers = case when $6::jsonb is null then t.headers else nullif($6::jsonb, '{}') end,
          body = coalesce($7, t.body),
          body_is_json = $8,
          callback_hash = case when $9::text is null or t.callback_sealed is not null then t.callback_hash
                               else decode($9, 'hex') end,
          callback_sealed = coalesce(t.callback_sealed, decode($10, 'hex')),
          flow = $11,
          retried_with = case when jsonb_array_length(found.earlier) >= ${MOST_KEPT} then found.earlier - 0
                              else found.earlier end || found.entry
     from found where t.team_id = found.team_id and t.id = found.id`,
);

/** Replaces parts of the call of a failed or cancelled task. Must run in the transaction that retries it. */
export async function correctTask(sql: Sql, reach: Reach, id: string, corrected: Corrected): Promise<void> {
  const { fields, url, headers, body, bodyIsJson, flow, callback } = corrected;
  await sql.rows(CORRECT_TASK, [
    reach.teamId,
    id,
    reach.environment,
    JSON.stringify(fields),
    url ?? null,
    headers === undefined ? null : JSON.stringify(headers),
    body?.text ?? null,
    bodyIsJson,
    callback?.hash ?? null,
    callback?.sealed ?? null,
    flow,
  ]);
}
