import type { PollConfig } from "../../domain/poll/poll-config.ts";
import { type FollowUp, MAX_WAIT_DEFAULT_SECONDS } from "../../domain/task.ts";

/** The columns that say how a task goes on after its first call. */
export const FOLLOW_COLUMNS = "t.provider, t.poll_config, t.wait_for_callback, t.max_wait_seconds";

export interface FollowRow {
  provider: string | null;
  poll_config: PollConfig | null;
  wait_for_callback: boolean;
  max_wait_seconds: number | null;
}

export function toFollowUp(row: FollowRow): FollowUp {
  return {
    provider: row.provider,
    pollConfig: row.poll_config,
    waitForCallback: row.wait_for_callback,
    maxWaitSeconds: row.max_wait_seconds ?? MAX_WAIT_DEFAULT_SECONDS,
  };
}
