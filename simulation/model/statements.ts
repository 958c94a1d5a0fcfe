import type { Statement } from "../../packages/server/src/store/sql.ts";
import { breakerStatements } from "./breaker-statements.ts";
import { bulkStatements } from "./bulk-statements.ts";
import { cancelStatements } from "./cancel-statements.ts";
import { claimStatements, teamsWithDue } from "./claim-statements.ts";
import { dedupeStatements } from "./dedupe-statements.ts";
import type { Effect, Effects } from "./effect.ts";
import { eventStatements, hasSubscribers } from "./event-rows.ts";
import { flowIntakeStatements } from "./flow-intake-statements.ts";
import { flowStatements } from "./flow-statements.ts";
import { heldHostStatements } from "./held-host-statements.ts";
import { intakeStatements } from "./intake-statements.ts";
import { lineStatements } from "./line-statements.ts";
import { queueRateStatements } from "./queue-rate-statements.ts";
import { queueStatements } from "./queue-statements.ts";
import { scheduleStatements } from "./schedule-statements.ts";
import { settleStatements } from "./settle-statements.ts";
import { workerStatements } from "./worker-statements.ts";

const nothing: Effect = () => [];

/** What happens after hours, or is never read by the engine. */
const without: Effects = {
  remove_expired_tasks: () => [{ removed: 0 }],
  fold_tallies: nothing,
  remove_settled_batches: nothing,
  // No run is as long as the time after which the row of a deleted queue is removed.
  remove_empty_deleted_queues: () => [{ queues: 0, stats: 0 }],
  remove_old_keys: nothing,
  insert_audit_event: nothing,
  // Events of queues, and webhooks, are not simulated.
  write_queue_event: nothing,
  teams_with_due_deliveries: (session) => teamsWithDue([], session.nowMs),
  held_webhook_deliveries: nothing,
  reap_webhook_deliveries: nothing,
  // One team, of the plan that bounds nothing.
  find_team_terms: (_, values) =>
    (values[0] as readonly number[]).map((teamId) => ({
      teamId,
      plan: "enterprise",
      ownLimits: null,
      ownerId: null,
    })),
};

const STATEMENTS: Effects = {
  ...flowStatements,
  ...flowIntakeStatements,
  ...intakeStatements,
  ...dedupeStatements,
  ...breakerStatements,
  ...heldHostStatements,
  ...claimStatements,
  ...settleStatements,
  ...cancelStatements,
  ...queueStatements,
  ...queueRateStatements,
  ...lineStatements,
  ...workerStatements,
  ...bulkStatements,
  ...scheduleStatements,
  ...eventStatements,
  ...without,
};

/** The name of what it does: its forms, for one task and with events, do the same. */
export function statementName({ name }: Statement): string {
  const found = name.replace(/(_alike)?(_with_events)?$/, "");
  // A silent default would make the simulation lie.
  if (!Object.hasOwn(STATEMENTS, found)) throw new Error(`The model of the store has no statement ${found}`);
  return found;
}

/** Of the statements on every task's way, which exist without and with events. */
const HOT: readonly string[] = [
  "insert_tasks_plain",
  "insert_tasks_keyed",
  "insert_tasks",
  "insert_flow_tasks",
  "insert_flow_tasks_plain",
  "claim_due_tasks",
  "claim_from_queues",
  "claim_unheld_tasks",
  "claim_flow_tasks",
  "claim_unheld_flow_tasks",
  "claim_flow_lines",
  "claim_unheld_flow_lines",
  "claim_flow_head",
  "claim_flow_line_head",
  "settle_attempts",
  "settle_attempts_completed",
  "settle_attempts_completed_flows",
];

/** What the statement does. */
export function findStatement(query: Statement): Effect {
  const name = statementName(query);
  const effect = STATEMENTS[name] ?? nothing;
  const isWithoutEvents = HOT.includes(name) && !query.name.endsWith("_with_events");
  return isWithoutEvents
    ? (session, values) => (hasSubscribers(session.tables) ? [] : effect(session, values))
    : effect;
}

/** All that there are, for a count of those that were met. */
export const STATEMENT_NAMES: readonly string[] = [
  ...Object.keys(STATEMENTS),
  ...HOT.map((name) => `${name}_with_events`),
];
