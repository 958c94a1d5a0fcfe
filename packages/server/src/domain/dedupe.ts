import type { ProblemDetail } from "./problem.ts";

export const DEDUPE_MODES = ["first", "replace", "debounce"] as const;
export type DedupeMode = (typeof DEDUPE_MODES)[number];

/** Of a window, and of the longest wait: 30 days. */
export const LONGEST_WINDOW_SECONDS = 2_592_000;

/** Joins different requests under one key, see docs/deduplication.md. */
export interface Dedupe {
  readonly key: string;
  readonly mode: DedupeMode;
  readonly windowSeconds: number;
  /** Of `debounce`: no request postpones the task further than this after the first. Null: 30 days. */
  readonly maxWaitSeconds: number | null;
}

interface DedupedDraft {
  readonly dedupe: Dedupe;
  readonly delaySeconds: number | null;
  readonly runAt: string | null;
  readonly expiresInSeconds: number | null;
}

type Names = Readonly<Record<"delaySeconds" | "runAt" | "expiresInSeconds" | "maxWaitSeconds", string>>;

export function dedupeComplaints(draft: DedupedDraft, names: Names): ProblemDetail[] {
  const { mode, windowSeconds, maxWaitSeconds } = draft.dedupe;
  const complaints: ProblemDetail[] = [];
  const maxWait = `dedupe.${names.maxWaitSeconds}`;
  if (maxWaitSeconds !== null && mode !== "debounce")
    complaints.push({ field: maxWait, error: `${maxWait} can only be given with mode debounce` });
  if (maxWaitSeconds !== null && maxWaitSeconds < windowSeconds)
    complaints.push({
      field: maxWait,
      error: `${maxWait} must be at least dedupe.window (${windowSeconds})`,
    });
  if (mode !== "debounce") return complaints;
  for (const field of ["delaySeconds", "runAt"] as const)
    if (draft[field] !== null) {
      const name = names[field];
      const error = `${name} cannot be given with dedupe mode debounce: dedupe.window says when the task is due`;
      complaints.push({ field: name, error });
    }
  const { expiresInSeconds } = draft;
  if (expiresInSeconds !== null && windowSeconds > expiresInSeconds) {
    const error = `dedupe.window is beyond ${names.expiresInSeconds} (${expiresInSeconds} s): the task would expire before it is due`;
    complaints.push({ field: "dedupe.window", error });
  }
  return complaints;
}

/** When a debounced task is due after another request. */
export function debouncedMs({ windowSeconds, maxWaitSeconds }: Dedupe, createdMs: number, nowMs: number) {
  const latestMs = createdMs + (maxWaitSeconds ?? LONGEST_WINDOW_SECONDS) * 1000;
  return Math.min(nowMs + windowSeconds * 1000, latestMs);
}
