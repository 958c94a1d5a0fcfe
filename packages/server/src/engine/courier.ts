import { givenUp, judgeDelivery } from "../domain/delivery.ts";
import type { Sql } from "../store/sql.ts";
import {
  claimDueNotifications,
  heldNotifications,
  type NotificationClaim,
  settleNotification,
  teamsWithDueNotifications,
} from "../store/tasks/notifications.ts";
import { createDeliveries, type Deliveries, type DeliveryTools } from "./deliveries.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { Outgoing } from "./outgoing.ts";
import { type RoundCost, WHOLE } from "./round-cost.ts";
import { post } from "./signed-post.ts";

const BATCH = 50;
export const COURIER_COST: RoundCost = { rows: BATCH, bytes: BATCH * WHOLE, turns: "in turn" };
/** Maximum in flight on this node. One team alone gets half of them. */
export const MOST_NOTIFICATIONS = 400;
/** Eight tries over a day: one at once, the others after these delays. */
const WAITS_MS = [5, 60, 300, 1_800, 7_200, 18_000, 57_600].map((seconds) => seconds * 1000);

/** The content of a notification. */
export interface Message {
  /** The task's id in the API. */
  readonly task: string;
  /** JSON. */
  readonly body: string;
}

/** Null if the task was deleted, or restarted by a retry. */
export type ComposeMessage = (teamId: number, taskId: string, endedAt: Date) => Promise<Message | null>;

/** Sends the notifications of ended tasks. It never changes the task, and a task never waits for it. */
export function createCourier(
  deps: DeliveryTools & {
    readonly sql: Sql;
    readonly outgoing: Outgoing;
    readonly compose: ComposeMessage;
    readonly meter?: EngineMeter;
  },
): Deliveries {
  const { sql, lease, log, meter = NO_METER } = deps;

  async function deliver(claim: NotificationClaim, signal: AbortSignal): Promise<number | null> {
    const message = await deps.compose(claim.teamId, claim.taskId, claim.endedAt);
    if (message === null) {
      await settleNotification(sql, claim, givenUp("The task is gone"));
      meter.notified("failed");
      return null;
    }
    const call = { teamId: claim.teamId, rowId: claim.taskId, messageId: `ntf_${claim.id}`, url: claim.url };
    const outcome = await post({ ...call, body: message.body, signal }, deps);
    const verdict = judgeDelivery(outcome, claim.attempt, WAITS_MS);
    const { status, waitMs, error } = verdict;
    await settleNotification(sql, claim, verdict);
    log.info({ task: message.task, attempt: claim.attempt, status, error }, "notification.settled");
    meter.notified(status === "pending" ? "retry" : status);
    return waitMs;
  }

  return createDeliveries({
    ...deps,
    name: "notification",
    batch: BATCH,
    findDue: () => teamsWithDueNotifications(sql),
    claim: (rooms) => claimDueNotifications(sql, lease.workerId, rooms),
    work: deliver,
    held: () => heldNotifications.of(sql, lease.workerId),
    release: (stray) => heldNotifications.release(sql, stray),
  });
}
