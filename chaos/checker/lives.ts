import type { History, Life } from "./history.ts";
import type { Violation } from "./violation.ts";

/** A start on a database that serves takes a second or two; a crowded machine may take longer. */
const LONGEST_START_MS = 30_000;
/** What a stop may take beyond the grace that its calls have. */
const BEYOND_GRACE_MS = 5_000;

/** A node ends when it is asked to, in time and cleanly, and never by itself once it was ready. */
export function checkLives(history: History, stopGraceMs: number): Violation[] {
  return history.lives.flatMap((life) => {
    const text = wrongLife(life, history, stopGraceMs);
    return text === null ? [] : [{ promise: "process", text, taskId: null, at: life.endedAt }];
  });
}

function wrongLife(life: Life, history: History, stopGraceMs: number): string | null {
  const { node, pid, startedAt, readyAt, askedAt, killed, exitCode } = life;
  const who = `node ${node} (pid ${pid})`;
  const endedAt = life.endedAt ?? history.endedAt;
  const pausedMs = pausedFor(pid, history);
  if (readyAt === null) {
    const hung = endedAt - startedAt - pausedMs > LONGEST_START_MS;
    return hung ? `${who} was not ready ${seconds(endedAt - startedAt)} after its start` : null;
  }
  if (askedAt === null)
    return killed || life.endedAt === null ? null : `${who} ended by itself with ${exitCode}`;
  const tookMs = endedAt - askedAt - pausedMs;
  if (tookMs > stopGraceMs + BEYOND_GRACE_MS) return `${who} took ${seconds(tookMs)} to stop after SIGTERM`;
  if (!killed && exitCode !== 0) return `${who} stopped with ${exitCode} after SIGTERM`;
  return null;
}

function pausedFor(pid: number, { faults }: History): number {
  return faults
    .filter(({ paused }) => paused.includes(pid))
    .reduce((sum, { from, to }) => sum + to - from, 0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
