import { storedSize } from "../../domain/stored-size.ts";
import type { NewTask, TaskSettings } from "../../domain/task.ts";
import type { SlotGrant } from "./queue-slots.ts";

export interface Submission {
  readonly task: NewTask;
  /** The grant under which a slot was reserved for the task, if one was. */
  readonly reservation: Pick<SlotGrant, "queueId" | "epoch"> | null;
}

/**
 * What one insert stores at most; a larger task has one to itself. Another team's task waits for such an insert and shares
 * the next: both take about as long as 300 plain tasks.
 */
export const INSERT_ROWS = 300;
export const INSERT_BYTES = 256 * 1024;
export const INSERT_WEIGHT = { of: storedSize, most: INSERT_BYTES } as const;

/** The result of a submission; null instead if its queue does not exist, its idempotency key is
 * taken, or its flow has too many waiting tasks. */
export interface Accepted extends TaskSettings {
  readonly id: string;
  readonly queueId: number;
  /** Inserted as active under the reservation: the call may start now. */
  readonly handedOff: boolean;
  readonly createdAt: Date;
  readonly runAt: Date;
}
