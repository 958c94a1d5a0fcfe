import type { PollClaim } from "../../domain/poll/poll-claim.ts";
import type { PollPlan } from "../../domain/poll/poll-plan.ts";
import type { FailureReason, TaskResult } from "../../domain/task.ts";
import { heldBy } from "../claim-batches.ts";
import { type Sql, statement } from "../sql.ts";
import { dueTeams, pickedByTeam, type TeamRoom } from "./due-teams.ts";
import { afterChange, ENDING_COLUMNS, endColumns, IS_NOTIFIED } from "./endings.ts";
import { one } from "./tallies.ts";
import { holding } from "./task-state.ts";

/** The fields that identify a claim. */
type PollKey = Pick<PollClaim, "teamId" | "id" | "fence">;

const WAITING = "tasks where poll_at is not null";

const CLAIM_DUE_POLLS = statement(
  "claim_due_polls",
  `with picked as (
     ${pickedByTeam("poll_at", WAITING, { rooms: "$2", worker: "$1" })}
   ), claimed as (
     update tasks t set worker_id = $1, fence = fence + 1, poll_at = null
       from picked where t.team_id = picked.team_id and t.id = picked.id
     returning t.team_id, t.id, t.shape, t.queue_id, t.flow, t.fence, t.poll_config, t.poll,
               -- Since the first call of this life of the task: a retry by hand began another.
               case when t.retries = 0 then t.started_at else (t.attempts -> -1 ->> 'at')::timestamptz end as called_at,
               t.timeout_seconds, t.headers, t.callback_sealed
   ), ${holding("claimed", "$1::bigint")}
   select team_id as "teamId", id, shape, queue_id::float8 as "queueId", flow, fence, poll_config as config, poll as plan,
          round(extract(epoch from now() - called_at) * 1000)::float8 as "elapsedMs",
          timeout_seconds as "timeoutSeconds", coalesce(headers, '{}') as "firstHeaders",
          encode(callback_sealed, 'hex') as "callbackSealed"
     from claimed`,
  { prepared: true },
);

/** Claims due polls, of each team as many as its capacity allows. They hold no slot of their queue. */
export async function claimDuePolls(
  sql: Sql,
  workerId: number,
  rooms: readonly TeamRoom[],
): Promise<PollClaim[]> {
  return sql.rows<PollClaim>(CLAIM_DUE_POLLS, [workerId, JSON.stringify(rooms)]);
}

const HELD_POLLS = statement(
  "held_polls",
  `select distinct t.team_id as "teamId", t.id, t.fence ${heldBy("b.worker_id = $1")} and t.status = 'polling'`,
);

/** The polls that the database assigns to this worker, to compare with its own list. */
export async function heldPolls(sql: Sql, workerId: number): Promise<PollKey[]> {
  return sql.rows<PollKey>(HELD_POLLS, [workerId]);
}

const RELEASE_POLLS = statement(
  "release_polls",
  `update tasks t set worker_id = null, fence = t.fence + 1, poll_at = t.run_at
     from jsonb_to_recordset($1::jsonb) as r("teamId" integer, id uuid, fence integer)
    where t.team_id = r."teamId" and t.id = r.id and t.fence = r.fence`,
);

/** Releases polls that no node makes: the answer to their claim was lost. */
export async function releasePolls(sql: Sql, polls: readonly PollKey[]): Promise<void> {
  await sql.rows(RELEASE_POLLS, [
    JSON.stringify(polls.map(({ teamId, id, fence }) => ({ teamId, id, fence }))),
  ]);
}

export const teamsWithDuePolls = dueTeams("teams_with_due_polls", "poll_at", WAITING);

/** The result of a poll. */
export type PollStep =
  | { readonly kind: "again"; readonly plan: PollPlan; readonly waitMs: number }
  | { readonly kind: "completed"; readonly result: TaskResult }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly error: string;
      readonly result: TaskResult | null;
    };

export interface PollSettlement {
  readonly claim: PollKey;
  readonly step: PollStep;
}

const SETTLE_POLLS = statement(
  "settle_polls",
  `with asked as (
     select j.*, now() + make_interval(secs => wait_ms / 1000.0) as next_at
       from jsonb_to_recordset($1::jsonb) as j(
              team_id integer, id uuid, fence integer, kind text, wait_ms integer, poll jsonb, result jsonb,
              error text, reason text)
   ), settled as (
     update tasks t
        set ${endColumns({
          status: "case when kind = 'again' then 'polling' else kind end",
          runAt: "coalesce(j.next_at, t.run_at)",
          when: "kind <> 'again'",
          completed: "kind = 'completed'",
          onward: { poll: "j.poll" },
        })},
            result = j.result,
            error = j.error,
            failure_reason = j.reason
       from asked j
      where t.team_id = j.team_id and t.id = j.id and t.fence = j.fence
     returning t.team_id, t.queue_id, t.id, t.status, ${ENDING_COLUMNS}
   ), ${afterChange({
     from: "settled",
     worker: "$2::bigint",
     writer: "other",
     deltas: { polling: `-${one("status <> 'polling'")}` },
     toldWhen: "c.status <> 'polling'",
   })}
   select id, ${IS_NOTIFIED} as notify from settled`,
  { prepared: true },
);

export interface SettledPoll {
  /** If this poll ended the task, a completion notification is due. */
  readonly notify: boolean;
}

/** Each counts only while its claim is valid: null where a callback or the deadline came first. */
export async function settlePolls(
  sql: Sql,
  settlements: readonly PollSettlement[],
  workerId: number,
): Promise<(SettledPoll | null)[]> {
  const rows = await sql.rows<SettledPoll & { readonly id: string }>(SETTLE_POLLS, [
    JSON.stringify(settlements.map(toRow)),
    workerId,
  ]);
  const settled = new Map(rows.map((row) => [row.id, row]));
  return settlements.map(({ claim }) => settled.get(claim.id) ?? null);
}

function toRow({ claim, step }: PollSettlement): object {
  const { teamId: team_id, id, fence } = claim;
  const key = { team_id, id, fence, kind: step.kind };
  if (step.kind === "again") return { ...key, wait_ms: step.waitMs, poll: step.plan };
  if (step.kind === "completed") return { ...key, result: step.result };
  return { ...key, error: step.error, reason: step.reason, result: step.result ?? undefined };
}
