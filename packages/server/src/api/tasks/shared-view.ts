import type { PollConfig } from "../../domain/poll/poll-config.ts";
import type { TaskResult } from "../../domain/task.ts";
import type { PollConfig as PollConfigRecord } from "../schemas/poll-config.ts";
import type { TaskResult as ResultRecord } from "../schemas/task-record.ts";

/** The parts of a record that are the same in both shapes. */

export function resultView(result: TaskResult): ResultRecord {
  return { ...result, headers: { ...result.headers } };
}

export function pollConfigView({
  doneValues,
  failValues,
  forwardHeaders,
  ...rest
}: PollConfig): PollConfigRecord {
  return {
    ...rest,
    doneValues: [...doneValues],
    failValues: [...failValues],
    ...(forwardHeaders && { forwardHeaders: [...forwardHeaders] }),
  };
}
