import type { Patient, Prepared } from "../../packages/server/src/store/sql.ts";
import { bulkStatements } from "./bulk-statements.ts";
import { cancelStatements } from "./cancel-statements.ts";
import { claimStatements, teamsWithDue } from "./claim-statements.ts";
import { eventStatements, hasSubscribers } from "./event-rows.ts";
import { intakeStatements } from "./intake-statements.ts";
import { queueStatements } from "./queue-statements.ts";
import { scheduleStatements } from "./schedule-statements.ts";
import { settleStatements } from "./settle-statements.ts";
import type { Statement, Statements } from "./statement.ts";
import { workerStatements } from "./worker-statements.ts";

const nothing: Statement = () => [];

/** What happens after hours, or is never read by the engine. */
const without: Statements = {
  remove_expired_tasks: () => [{ removed: 0 }],
  fold_tallies: nothing,
  remove_settled_batches: nothing,
  remove_empty_queues: nothing,
  remove_old_keys: nothing,
  audit: nothing,
  // Events of queues, and webhooks, are not simulated.
  write_queue_event: nothing,
  teams_with_due_deliveries: (session) => teamsWithDue([], session.nowMs),
  held_deliveries: nothing,
  reap_deliveries: nothing,
  // One team, of the plan that bounds nothing.
  find_team_terms: (_, values) =>
    (values[0] as readonly number[]).map((teamId) => ({
      teamId,
      plan: "enterprise",
      ownLimits: null,
      ownerId: null,
    })),
};

const STATEMENTS: Statements = {
  ...intakeStatements,
  ...claimStatements,
  ...settleStatements,
  ...cancelStatements,
  ...queueStatements,
  ...workerStatements,
  ...bulkStatements,
  ...scheduleStatements,
  ...eventStatements,
  ...without,
};

/** Statements that are not prepared have no name: each is known by words that stand in no other. */
const BY_WORDS: readonly (readonly [words: string, name: string])[] = [
  ["t.fence = 1 and t.attempt_started_at = t.created_at as ours", "find_accepted"],
  ["a.value ->> 'status' in ('success', 'failed')", "find_settled"],
  ["t.attempts <> '[]'", "mark_superseded"],
  ["t.status = 'polling' for update skip locked", "reap_polls"],
  ["delete from claim_batches", "remove_settled_batches"],
  ["where b.worker_id = $1 and t.status = 'active'", "held_tasks"],
  ["where b.worker_id = $1 and t.status = 'polling'", "held_polls"],
  [
    "update tasks t set worker_id = null, fence = t.fence + 1, poll_at = t.run_at from jsonb",
    "release_polls",
  ],
  ['select q.team_id as "teamId", q.name as queue from queues q where', "queues_with_due_tasks"],
  ["for no key update", "lock_queue"],
  ["insert into queue_slots as s", "acquire_slots"],
  ["as r(team_id integer, queue_id bigint, version text)", "release_slots"],
  ["update queue_slots s set slots = u.slots from used u", "shrink_slots"],
  ["insert into workers", "register_worker"],
  ["update workers set expires_at", "renew_worker"],
  ["delete from workers where expires_at", "remove_expired_workers"],
  ["delete from workers where id = $1", "remove_worker"],
  ["select extract(epoch from clock_timestamp())", "database_clock"],
  ["update notifications set status = $4", "settle_notification"],
  ["from notifications where worker_id = $1", "held_notifications"],
  [
    "update notifications d set worker_id = null, fence = d.fence + 1 from jsonb_to_recordset",
    "release_notifications",
  ],
  ["update notifications d set worker_id = null, fence = d.fence + 1 where", "reap_notifications"],
  ["select pg_notify", "notify"],
  ["insert into queues as q", "insert_queue"],
  ["set concurrency = coalesce($3, concurrency)", "update_queue"],
  ["set paused = $3", "set_queue_paused"],
  ["with doomed as ( select team_id, id from queues", "mark_queue_deleted"],
  ["to_json(s) as stats", "find_queue"],
  ["with doomed as ( select t.team_id, t.id from queues q", "remove_pending_of_deleted_queues"],
  ["with expired as ( select x.team_id, x.id", "remove_expired_tasks"],
  ["with folded as ( delete from queue_tallies", "fold_tallies"],
  ["with gone as ( delete from queues", "remove_empty_queues"],
  ["delete from idempotency_keys k using ( select", "remove_old_keys"],
  ["select status from tasks where team_id = $1 and id = $2", "task_status"],
  ["select status from tasks where callback_hash", "callback_status"],
  ["insert into audit_events", "audit"],
  ["insert into bulks as b", "insert_bulk"],
  ["insert into bulk_portions", "insert_portion"],
  ["from bulks where status = 'running' group by team_id", "next_bulk_teams"],
  ["done + skipped as position", "lock_bulk"],
  ["select task_ids[", "read_turn"],
  ["with counted as ( update bulks", "count_turn"],
  ["insert into listeners as l", "listen_to"],
  ["insert into schedules (", "insert_schedule"],
  ["update schedules set cron = $3", "update_schedule"],
  ["select l.team_id, false, $2, $3 from listeners l", "write_queue_event"],
  ["from webhook_deliveries where worker_id = $1", "held_deliveries"],
  ["update webhook_deliveries d set worker_id = null, fence = d.fence + 1 where", "reap_deliveries"],
];

const known = new Map<string, string>();

/** A statement that the model does not know must be added to it: a silent default would make the simulation lie. */
export function statementName(query: string | Prepared | Patient): string {
  const text = typeof query === "string" ? query : query.text;
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  const given = typeof query === "string" ? undefined : query.name;
  const name = given?.replace(/(_one)?(_with_events)?$/, "") ?? nameByWords(text);
  if (STATEMENTS[name] === undefined) throw new Error(`The model of the store has no statement ${name}`);
  known.set(text, name);
  return name;
}

function nameByWords(text: string): string {
  const plain = text.replace(/\s+/g, " ");
  const names = BY_WORDS.filter(([words]) => plain.includes(words)).map(([, name]) => name);
  if (names.length === 1) return names[0] ?? "";
  throw new Error(
    `The model of the store knows ${names.length} statements (${names}) that could be: ${plain}`,
  );
}

/** Of the statements on every task's way, which exist in a quiet form and in one that tells. */
const HOT: readonly string[] = [
  "insert_tasks_plain",
  "insert_tasks_keyed",
  "insert_tasks",
  "claim_due_tasks",
  "settle_attempts",
  "settle_attempts_completed",
];

/** What the statement does. */
export function findStatement(query: string | Prepared | Patient): Statement {
  const name = statementName(query);
  const statement = STATEMENTS[name] ?? nothing;
  const isQuiet =
    HOT.includes(name) && typeof query !== "string" && query.name?.endsWith("_with_events") === false;
  return isQuiet
    ? (session, values) => (hasSubscribers(session.tables) ? [] : statement(session, values))
    : statement;
}

/** Which form of a statement was run, for a count of them. */
export function formName(query: string | Prepared | Patient): string {
  if (query === "commit" || query === "rollback") return query;
  return typeof query !== "string" && query.name !== undefined ? query.name : statementName(query);
}

/** All that there are, for a count of those that were met. */
export const STATEMENT_NAMES: readonly string[] = [
  ...Object.keys(STATEMENTS),
  ...HOT.map((name) => `${name}_with_events`),
];
