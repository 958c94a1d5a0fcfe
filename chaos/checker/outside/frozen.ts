import type { History, Seen } from "../history.ts";

/** A node that is frozen for less still holds its lease: others have not taken over what it calls. */
const SHORTEST_LOSS_MS = 10_000;
/** A process that was frozen past its lease lets go of its calls when it runs again; a target learns of it by an event of its own. */
const WAKE_MS = 1_000;
const CLOSE_MS = 100;
/** A call whose connection was asked for as its process was frozen begins for its target when that runs again. */
const LEAVING_MS = 1_000;

/** Whether a call is in the hands of its target and a live process, for one who does not know which process made it. */
export function isOpenAt(call: Seen, at: number, { faults }: Pick<History, "faults">): boolean {
  const closedEarly = call.endedBy === "caller" ? CLOSE_MS : 0;
  if (call.begunAt > at || (call.endedAt ?? Number.POSITIVE_INFINITY) - closedEarly <= at) return false;
  return !faults.some(
    ({ paused, from, to }) =>
      paused.length > 0 &&
      call.begunAt <= from + LEAVING_MS &&
      at >= from + SHORTEST_LOSS_MS &&
      at <= to + WAKE_MS,
  );
}

/** Whether a call may have begun well before its target saw it: a node, or the target itself, was frozen or held up. */
export function isBlurred({ begunAt }: Seen, { faults, lags }: Pick<History, "faults" | "lags">): boolean {
  return (
    faults.some(
      ({ paused, from, to }) => paused.length > 0 && from <= begunAt && begunAt <= to + LEAVING_MS,
    ) || lags.some(({ at, ms }) => at - ms <= begunAt && begunAt <= at + LEAVING_MS)
  );
}
