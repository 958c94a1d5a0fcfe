import type { Time } from "../domain/time.ts";
import { createGroupCommit, type GroupCommit } from "../store/group-commit.ts";
import type { Sql } from "../store/sql.ts";
import { type PollSettlement, type SettledPoll, settlePolls } from "../store/tasks/task-polls.ts";
import type { Lease } from "./lease.ts";
import { type EngineMeter, meterFlush } from "./meter.ts";
import { MIB } from "./round-cost.ts";

const MAX_ITEMS = 100;

/** Teams share a statement equally, so that no team waits for the long results of another. */
export function createPollSettler(deps: {
  readonly sql: Sql;
  readonly lease: Pick<Lease, "workerId">;
  readonly time: Time;
  readonly meter?: EngineMeter;
}): GroupCommit<PollSettlement, SettledPoll | null> {
  return createGroupCommit<PollSettlement, SettledPoll | null>({
    flush: meterFlush("poll", deps, (settlements: readonly PollSettlement[]) =>
      settlePolls(deps.sql, settlements, deps.lease.workerId),
    ),
    maxItems: MAX_ITEMS,
    weight: { of: weightOf, most: MIB },
    teamOf: ({ claim }) => claim.teamId,
    soon: deps.time.soon,
  });
}

function weightOf({ step }: PollSettlement): number {
  return "result" in step && step.result !== null ? step.result.body.length : 0;
}
