import type { Task } from "@bellhop/sdk";
import { type CSSProperties, Fragment } from "react";
import { formatDuration } from "../../data/format.ts";
import { useNow } from "../../data/now.ts";
import { isEnded } from "../../data/status.ts";
import { ResponseCode } from "../../parts/target.tsx";
import { Duration } from "../../parts/time.tsx";

type Attempt = Task["attempts"][number];

const TONES: Readonly<Record<string, string>> = {
  active: "active",
  success: "completed",
  failed: "failed",
  timeout: "failed",
  blocked: "failed",
};

const PARTS = {
  connect: "connecting",
  answer: "waiting for the answer",
  body: "reading it",
} as const;

/** Every attempt on one scale of time: how long it was waited for, and how long each part of its call took. */
export function Attempts({ task }: { readonly task: Task }) {
  const now = useNow();
  if (task.attempts.length === 0) return <p className="muted">None yet.</p>;
  const { from, to, ends } = scaleOf(task, now);
  const place = (start: number, end: number): CSSProperties => {
    const share = (at: number) => Math.max(0, Math.min(1, (at - from) / (to - from))) * 100;
    return { left: `${share(start)}%`, width: `${share(end) - share(start)}%` };
  };
  return (
    <div className="fall">
      {task.attempts.map((attempt, index) => {
        const startedAt = new Date(attempt.executedAt).getTime();
        const before = index === 0 ? from : (ends[index - 1] ?? from);
        const tone = `var(--${TONES[attempt.status] ?? "cancelled"})`;
        const parts = partsOf(attempt, now);
        return (
          <Fragment key={attempt.number}>
            <span className="number num muted">{attempt.number}</span>
            <span className="outcome" style={{ color: tone }} title={phaseText(attempt.phase)}>
              {attempt.status}
            </span>
            <span className="answered num">
              <ResponseCode code={attempt.responseCode} />
            </span>
            <span className="lane" style={{ "--tone": tone } as CSSProperties}>
              <i
                className="wait"
                title={`waited ${formatDuration(startedAt - before)}`}
                style={place(before, startedAt)}
              />
              {parts.map(({ name, start, end }) => (
                <i
                  key={name}
                  className={name}
                  title={`${PARTS[name]} ${formatDuration(end - start)}`}
                  style={place(startedAt + start, startedAt + end)}
                />
              ))}
            </span>
            <span className="took num">
              <Duration ms={attempt.duration} />
            </span>
            {parts.length < 2 ? null : (
              <span className="parts small muted">
                {parts
                  .map(({ name, start, end }) => `${PARTS[name]} ${formatDuration(end - start)}`)
                  .join(" · ")}
              </span>
            )}
            {attempt.error === null ? null : <span className="why small wrap">{attempt.error}</span>}
          </Fragment>
        );
      })}
      <span className="axis small muted num">
        <span>0</span>
        <span>{formatDuration((to - from) / 2)}</span>
        <span>{formatDuration(to - from)}</span>
      </span>
    </div>
  );
}

/** From when it was due to when the last call ended, or to now, for a minute. */
function scaleOf(task: Task, now: number) {
  const times = task.attempts.map(({ executedAt }) => new Date(executedAt).getTime());
  const ends = task.attempts.map(({ duration }, index) => (times[index] ?? now) + (duration ?? 0));
  const first = times[0] ?? now;
  const createdAt = new Date(task.createdAt).getTime();
  const calls = Math.max(
    1000,
    task.attempts.reduce((sum, { duration }) => sum + (duration ?? 0), 0),
  );
  // A task that was delayed for a day would press its calls into nothing.
  const from = first - createdAt > 20 * calls ? first - calls : Math.min(createdAt, first - 1);
  const last = Math.max(...ends);
  const to = isEnded(task.status) ? last : Math.max(last, Math.min(now, last + 60_000));
  return { from, to: Math.max(to, from + 1), ends };
}

/** One part where nothing is known but how long it all took. */
function partsOf({ executedAt, duration, connectMs = 0, firstByteMs }: Attempt, now: number) {
  const whole = duration ?? Math.max(0, now - new Date(executedAt).getTime());
  const began = Math.min(firstByteMs ?? whole, whole);
  const answer = { name: "answer", start: connectMs, end: began } as const;
  const parts = [
    { name: "connect", start: 0, end: connectMs } as const,
    answer,
    { name: "body", start: began, end: whole } as const,
  ].filter(({ start, end }) => end > start);
  return parts.length === 0 ? [answer] : parts;
}

function phaseText(phase: string): string {
  if (phase === "not_sent") return "No byte of the request left";
  return phase === "sent"
    ? "The request was sent and no answer came: the target may have acted on it"
    : "An answer came";
}
