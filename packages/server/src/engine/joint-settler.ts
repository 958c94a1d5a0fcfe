import type { Settlement } from "../domain/settlement.ts";
import type { Database } from "../store/sql.ts";
import { countAttempts } from "../store/tasks/breaker-counts.ts";
import { lockBreakers } from "../store/tasks/breakers.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import { NO_WORKER } from "../store/tasks/tallies.ts";
import { type Settled, settleAttempts } from "../store/tasks/task-settlements.ts";
import type { Followers } from "./followers.ts";
import type { HostAttempts } from "./host-attempts.ts";

/** What follows from joint settlements. */
export interface Joins {
  /** Stores the tasks that are created with a settlement. */
  readonly followers?: Pick<Followers, "store"> | undefined;
  readonly hosts?: Pick<HostAttempts, "succeeded"> | undefined;
  /** A circuit breaker may let tasks begin. */
  readonly onBreakers?: () => void;
}

/** The settlement is stored together with callbacks, or with what a circuit breaker learns by it. */
export function isJoint(settlement: Settlement): boolean {
  return isCounted(settlement) || (settlement.followers ?? null) !== null;
}

/** A circuit breaker counts it at once. */
export function isCounted({ report }: Settlement): boolean {
  return report?.isUrgent === true;
}

/**
 * Settles attempts in one commit with their callbacks and the counts of circuit breakers: a settlement without its callback, or the
 * other way round, would lose or repeat the callback; a retry or a further probe would begin before the breaker knows.
 *
 * The transaction is long, and the usual settlements must not wait for it: it counts the tasks in rows of its own connection,
 * not in those of the worker.
 */
export function createJointSettler({
  sql,
  followers,
  onBreakers,
}: Joins & { readonly sql: Database }): (
  settlements: readonly Settlement[],
) => Promise<readonly (Settled | null)[]> {
  const subscribers = createSubscriberMemory();

  return async (settlements) => {
    const { settled, report, hasNews } = await sql.transaction(async (within) => {
      const queues = await lockBreakers(
        within,
        settlements.filter(isCounted).map(({ claim }) => claim),
      );
      const settled = await settleAttempts(within, settlements, NO_WORKER, subscribers);
      const valid = settlements.filter((_, index) => settled[index] !== null);
      const tasks = settlements.flatMap(({ followers: make }, index) => {
        const each = settled[index];
        return each == null ? [] : (make?.(each.status === "failed") ?? []);
      });
      const report = await followers?.store(within, tasks);
      const attempts = valid.flatMap(({ claim, report: seen }) => {
        if (seen == null || !seen.isUrgent) return [];
        const { teamId, queueId, id, fence, attemptStartedAt } = claim;
        return [{ teamId, queueId, id, fence, beganAt: attemptStartedAt, host: seen.host, isUp: seen.isUp }];
      });
      return { settled, report, hasNews: await countAttempts(within, queues, attempts) };
    });
    report?.();
    if (hasNews) onBreakers?.();
    return settled;
  };
}
