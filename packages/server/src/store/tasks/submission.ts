import type { NewTask, TaskSettings } from "../../domain/task.ts";
import type { SlotGrant } from "./queue-slots.ts";

export interface Submission {
  readonly task: NewTask;
  /** The grant under which a slot was reserved for the task, if one was. */
  readonly reservation: Pick<SlotGrant, "queueId" | "epoch"> | null;
}

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
