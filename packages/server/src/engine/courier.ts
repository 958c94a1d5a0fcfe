import { givenUp, judgeDelivery } from "../domain/delivery.ts";
import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import {
  claimDueNotifications,
  heldNotifications,
  type NotificationClaim,
  settleNotification,
  teamsWithDueNotifications,
} from "../store/tasks/notifications.ts";
import type { Pool } from "./budget.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { createDeliveries, type Deliveries } from "./deliveries.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Unanswered } from "./unanswered.ts";

const BATCH = 50;
/** In flight at once on this node; a team alone has half of them. */
export const MOST_NOTIFICATIONS = 400;
const TIMEOUT_MS = 30_000;
/** Eight tries over a day: at once, then after these waits. */
const WAITS_MS = [5, 60, 300, 1_800, 7_200, 18_000, 57_600].map((seconds) => seconds * 1000);

/** What a notification says. */
export interface Message {
  /** The task's id, as its caller knows it. */
  readonly task: string;
  /** JSON. */
  readonly body: string;
}

/** Null when the task is gone, or that end of it is undone: it was retried. */
export type ComposeMessage = (teamId: number, taskId: string, endedAt: Date) => Promise<Message | null>;

/** Tells callers that their task has ended. It never changes the task, and a task never waits for it. */
export function createCourier(deps: {
  readonly sql: Sql;
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly pool: Pool;
  readonly learn: (teamIds: readonly number[]) => Promise<void> | null;
  readonly outgoing: Outgoing;
  readonly compose: ComposeMessage;
  readonly log: Log;
  readonly time: Time;
  readonly meter?: EngineMeter;
  readonly clock: DatabaseClock;
  readonly wake: () => void;
}): Deliveries {
  const { sql, lease, log, meter = NO_METER } = deps;

  async function deliver(claim: NotificationClaim, signal: AbortSignal): Promise<number | null> {
    const message = await deps.compose(claim.teamId, claim.taskId, claim.endedAt);
    if (message === null) {
      await settleNotification(sql, claim, givenUp("The task is gone"));
      meter.notified("failed");
      return null;
    }
    const sent = await deps.outgoing.send({
      teamId: claim.teamId,
      taskId: claim.taskId,
      messageId: `ntf_${claim.id}`,
      call: { method: "POST", url: claim.url, headers: {}, body: message.body },
      headers: { "content-type": "application/json" },
      timeoutMs: TIMEOUT_MS,
      sign: true,
      callbackSealed: null,
      wipe: null,
      signal,
      mayLeave: lease.isHeld,
    });
    const outcome = sent.kind === "outcome" ? sent.outcome : null;
    const verdict = judgeDelivery(outcome, claim.attempt, WAITS_MS);
    const { status, waitMs, error } = verdict;
    await settleNotification(sql, claim, verdict);
    log.info({ task: message.task, attempt: claim.attempt, status, error }, "notification.settled");
    meter.notified(status === "pending" ? "retry" : status);
    return waitMs;
  }

  return createDeliveries({
    name: "notification",
    lease,
    unanswered: deps.unanswered,
    log,
    time: deps.time,
    clock: deps.clock,
    pool: deps.pool,
    learn: deps.learn,
    batch: BATCH,
    findDue: () => teamsWithDueNotifications(sql),
    claim: (rooms) => claimDueNotifications(sql, lease.workerId, rooms),
    work: deliver,
    wake: deps.wake,
    held: () => heldNotifications.of(sql, lease.workerId),
    release: (stray) => heldNotifications.release(sql, stray),
  });
}
