import { checkAccepted } from "./accepted.ts";
import { checkAnswers } from "./answers.ts";
import { checkCommittedFirst, checkRecords } from "./attempts.ts";
import { checkBreakerTasks, checkProbes } from "./breaker-tasks.ts";
import { checkBreakerRows } from "./breakers.ts";
import { checkBulks } from "./bulks.ts";
import { checkCalls } from "./calls.ts";
import { checkCompletion } from "./completion.ts";
import { checkConcurrency } from "./concurrency.ts";
import { checkDedupeKeys } from "./dedupe.ts";
import { checkDeletions } from "./deletions.ts";
import { checkEvents } from "./events.ts";
import { checkFlows } from "./flows.ts";
import type { History } from "./history.ts";
import { checkLines } from "./lines.ts";
import { checkLives } from "./lives.ts";
import { checkNotifications } from "./notifications.ts";
import { checkOutcomes } from "./outcomes.ts";
import { checkOutside } from "./outside/outside.ts";
import { checkDue, checkOrder } from "./priority.ts";
import { checkRates } from "./rates.ts";
import { checkRest, checkStats } from "./rest.ts";
import { checkRetention } from "./retention.ts";
import { checkSandbox } from "./sandbox.ts";
import { checkSchedules } from "./schedules.ts";
import { type Stories, tellStories } from "./stories.ts";
import { checkCallbacks, checkValues } from "./values.ts";
import { checkVault } from "./vault.ts";
import type { Violation } from "./violation.ts";
import { checkWebhooks } from "./webhooks.ts";

/** The grace that the runner gives its nodes (BELLHOP_STOP_GRACE). */
export const STOP_GRACE_MS = 5_000;

/** Every promise against the whole history. Pure: the same history always has the same violations. */
export function check(history: History, stories: Stories = tellStories(history)): Violation[] {
  const fromOutside = [
    ...checkOutside(history),
    ...checkAnswers(history),
    ...checkLives(history, STOP_GRACE_MS),
  ];
  // Of a run in which nobody looked into the database.
  if (history.rest.fates !== undefined) return fromOutside;
  return [
    ...checkAccepted(history, stories),
    ...checkCompletion(stories),
    ...checkCommittedFirst(stories),
    ...checkOutcomes(stories),
    ...checkConcurrency(stories),
    ...checkFlows(stories),
    ...checkRates(history, stories),
    ...checkBreakerRows(history),
    ...checkBreakerTasks(history),
    ...checkProbes(history, stories),
    ...checkDedupeKeys(history, stories),
    ...checkDeletions(history, stories),
    ...checkRecords(stories),
    ...checkCalls(history, stories),
    ...checkRest(history),
    ...checkStats(history),
    ...checkOrder(history, stories),
    ...checkDue(stories),
    ...checkLines(history),
    ...checkNotifications(history, stories),
    ...checkRetention(history, stories),
    ...checkSandbox(history),
    ...checkSchedules(history, stories),
    ...checkBulks(history, stories),
    ...checkEvents(history, stories),
    ...checkWebhooks(history, stories),
    ...checkValues(history, stories),
    ...checkCallbacks(stories),
    ...checkVault(history, stories),
    ...fromOutside,
  ];
}
