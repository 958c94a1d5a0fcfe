import type { Task } from "@bellhop/sdk";
import { Fragment } from "react";
import { formatDuration } from "../../data/format.ts";
import { useNow } from "../../data/now.ts";
import { isEnded } from "../../data/status.ts";
import { ResponseCode } from "../../parts/target.tsx";
import { Duration } from "../../parts/time.tsx";

const TONES: Readonly<Record<string, string>> = {
  active: "active",
  success: "completed",
  failed: "failed",
  timeout: "failed",
  blocked: "failed",
};

/** Every attempt on one scale of time, from the task's creation to its end: waits are thin, calls are thick. */
export function Attempts({ task }: { readonly task: Task }) {
  const now = useNow();
  if (task.attempts.length === 0) return <p className="muted">None yet.</p>;
  const first = task.attempts[0]?.executedAt ?? task.createdAt;
  const createdAt = new Date(task.createdAt).getTime();
  // A task that was delayed for a day would press its calls into nothing: its scale begins when it was due.
  const from = Math.max(createdAt, Math.min(new Date(first).getTime() - 1, lastDueBefore(task, first)));
  const ends = task.attempts.map(
    ({ executedAt, duration }) => new Date(executedAt).getTime() + (duration ?? 0),
  );
  const to = Math.max(
    ...ends,
    isEnded(task.status) ? from + 1 : Math.min(now, Math.max(...ends) + 60_000),
    from + 1,
  );
  const share = (at: number) => `${Math.max(0, Math.min(1, (at - from) / (to - from))) * 100}%`;
  return (
    <div className="fall">
      {task.attempts.map((attempt, index) => {
        const startedAt = new Date(attempt.executedAt).getTime();
        const endedAt = startedAt + (attempt.duration ?? Math.max(0, now - startedAt));
        const before = index === 0 ? from : (ends[index - 1] ?? from);
        const tone = `var(--${TONES[attempt.status] ?? "cancelled"})`;
        return (
          <Fragment key={attempt.number}>
            <span className="num muted">{attempt.number}</span>
            <span style={{ color: tone }} title={phaseText(attempt.phase)}>
              {attempt.status}
            </span>
            <ResponseCode code={attempt.responseCode} />
            <span
              className="lane"
              title={`waited ${formatDuration(startedAt - before)}, called at ${attempt.executedAt}`}
            >
              <i
                className="wait"
                style={{ left: share(before), right: `calc(100% - ${share(startedAt)})` }}
              />
              <i
                style={{
                  left: share(startedAt),
                  width: `calc(${share(endedAt)} - ${share(startedAt)})`,
                  background: tone,
                }}
              />
            </span>
            <span className="num">
              <Duration ms={attempt.duration} />
            </span>
            {attempt.error === null ? null : <span className="why small wrap">{attempt.error}</span>}
          </Fragment>
        );
      })}
    </div>
  );
}

function lastDueBefore(task: Task, first: string): number {
  const createdAt = new Date(task.createdAt).getTime();
  const waited = new Date(first).getTime() - createdAt;
  const calls = task.attempts.reduce((sum, { duration }) => sum + (duration ?? 0), 0);
  return waited > 20 * Math.max(calls, 1000) ? new Date(first).getTime() - Math.max(calls, 1000) : createdAt;
}

function phaseText(phase: string): string {
  if (phase === "not_sent") return "No byte of the request left";
  return phase === "sent" ? "It left, and no answer came: the target may have acted on it" : "An answer came";
}
