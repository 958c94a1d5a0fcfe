import { performance } from "node:perf_hooks";

/** One statement, or one wait for a connection, that must end by its time. */
export interface Deadline {
  readonly atMs: number;
  /** Null once it has ended. */
  onMissed: (() => void) | null;
}

/** The maximum delay of a missed deadline, while the event loop is free. */
const TICK_MS = 100;

/** In the order of their beginning. Those that have ended stay until the next tick. */
let deadlines: Deadline[] = [];
let tickAtMs: number | null = null;
let stoodStill = false;

/**
 * Calls `onMissed` unless `endDeadline` comes first. All deadlines share one coarse timer: a timer each would cost more
 * than the smallest statements.
 */
export function beginDeadline(ms: number, onMissed: () => void): Deadline {
  const nowMs = performance.now();
  const deadline: Deadline = { atMs: nowMs + ms, onMissed };
  deadlines.push(deadline);
  if (tickAtMs === null) arm(nowMs);
  return deadline;
}

/** False if it was missed before. */
export function endDeadline(deadline: Deadline): boolean {
  const wasOpen = isOpen(deadline);
  deadline.onMissed = null;
  return wasOpen;
}

export function isOpen(deadline: Deadline): boolean {
  return deadline.onMissed !== null;
}

function arm(nowMs: number): void {
  tickAtMs = nowMs + TICK_MS;
  setTimeout(tick, TICK_MS);
}

function tick(): void {
  const nowMs = performance.now();
  // After a pause of the process its answers may be available but unread: they are read once before any deadline is
  // missed.
  stoodStill = !stoodStill && nowMs - (tickAtMs ?? nowMs) > TICK_MS;
  tickAtMs = null;
  deadlines = deadlines.filter(isOpen);
  const missed = stoodStill ? [] : deadlines.filter(({ atMs }) => atMs <= nowMs);
  for (const deadline of missed) {
    const { onMissed } = deadline;
    endDeadline(deadline);
    onMissed?.();
  }
  if (deadlines.length > 0 && tickAtMs === null) arm(nowMs);
}
