import type { Task } from "../task.ts";
import type { PollConfig } from "./poll-config.ts";
import type { PollPlan } from "./poll-plan.ts";

/** A worker's right to make one poll. */
export interface PollClaim {
  readonly teamId: number;
  readonly id: string;
  readonly shape: Task["shape"];
  readonly queueId: number;
  readonly flow: string | null;
  readonly fence: number;
  readonly config: PollConfig;
  readonly plan: PollPlan;
  /** Since the first call began. */
  readonly elapsedMs: number;
  readonly timeoutSeconds: number;
  /** Headers of the first call: their secrets must not appear in an answer. */
  readonly firstHeaders: Readonly<Record<string, string>>;
  readonly callbackSealed: string | null;
}
