import type { Call } from "./call.ts";
import type { TaskSummary } from "./task.ts";
import type { Trial } from "./verdict.ts";

/** A worker's right to make one attempt, with all it needs to make it. */
export interface Claim extends Trial, Pick<TaskSummary, "teamId" | "id" | "shape" | "queue" | "priority"> {
  readonly queueId: number;
  /** Whose right it is: a process that lost its lease comes back under another id. */
  readonly workerId: number;
  /** Proves at settlement that the right is still held. */
  readonly fence: number;
  readonly attempt: number;
  readonly attemptStartedAt: Date;
  readonly call: Call;
  readonly timeoutSeconds: number;
  readonly sign: boolean;
  /** The sealed id of the callback that the call must name. */
  readonly callbackSealed: string | null;
}
