import { RECOVERY_MS } from "./faults.ts";
import type { History, Seen } from "./history.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** A target learns of a closed connection by an event of its own, perhaps after the next request's. */
const CLOSE_MS = 100;
/** A process that was stopped past its lease cannot let go of its calls before it runs again. */
const WAKE_MS = 1_000;

/** Calls of one task come one after the other, each attempt once, and again only for a reason. */
export function checkCalls(history: History, stories: Stories): Violation[] {
  return stories.all.flatMap((story) =>
    story.calls.flatMap((call, index) => {
      const text = wrongCall(call, story.calls.slice(0, index), story, history, stories);
      return text === null ? [] : [{ promise: "twice" as const, text, taskId: story.id, at: call.begunAt }];
    }),
  );
}

function wrongCall(
  call: Seen,
  earlier: readonly Seen[],
  story: Story,
  history: History,
  stories: Stories,
): string | null {
  const attempt = call.attempt ?? 0;
  if (earlier.some((other) => other.attempt === attempt)) return `attempt ${attempt} was called twice`;
  const newer = earlier.find((other) => (other.attempt ?? 0) > attempt);
  if (newer !== undefined) return `attempt ${attempt} was called after attempt ${newer.attempt}`;
  const open = earlier.find((other) => isOpenAt(other, call.begunAt, stories));
  if (open !== undefined) return `attempt ${attempt} was called while attempt ${open.attempt} was in flight`;
  const done = earlier.find(isAnswered);
  if (done !== undefined) return causeless(done, call, story, history);
  return null;
}

/** A call that was answered well is repeated only where its answer cannot have been seen or recorded. */
function causeless(done: Seen, call: Seen, { last, changes }: Story, { faults }: History): string | null {
  const isRetried = changes.some(
    ({ committedAt, row }, index) =>
      row.retries > (changes[index - 1]?.row.retries ?? 0) &&
      committedAt >= done.begunAt &&
      committedAt <= call.begunAt,
  );
  if (isRetried) return null;
  const record = last?.attempts.find(({ number }) => number === done.attempt);
  if (record?.status === "success") return `it was called again although attempt ${done.attempt} succeeded`;
  // It came too late for the caller, which is the target's fault.
  if (record?.status === "timeout") return null;
  const hadFault = faults.some(({ from, to }) => from <= call.begunAt && to >= done.begunAt - RECOVERY_MS);
  return hadFault
    ? null
    : `attempt ${done.attempt} was answered ${done.status} and called again, without any fault`;
}

export function isAnswered({ status, whole }: Seen): boolean {
  return status !== null && status >= 200 && status < 300 && whole === "yes";
}

/** Whether a call is in the hands of its target and a live process, as far as the target can tell. */
export function isOpenAt(call: Seen, at: number, stories: Stories): boolean {
  const closedEarly = call.endedBy === "caller" ? CLOSE_MS : 0;
  if (call.begunAt > at || (call.endedAt ?? Number.POSITIVE_INFINITY) - closedEarly <= at) return false;
  const claim = stories.claimOf(call);
  const pause = claim === null ? null : stories.lostWhilePaused(claim.workerId);
  return pause === null || at < pause.lostAt || at > pause.wokenAt + WAKE_MS;
}
