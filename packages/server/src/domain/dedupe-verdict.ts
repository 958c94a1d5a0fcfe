import type { Dedupe } from "./dedupe.ts";
import { Problem } from "./problem.ts";
import type { Shape } from "./task.ts";

/** The last task that was created under a key. */
export interface KeyHolder {
  readonly dedupe: Dedupe;
  readonly queue: string;
  readonly shape: Shape;
  readonly createdMs: number;
  /** Pending, and no attempt of it has begun. */
  readonly isUntouched: boolean;
}

/** What becomes of a request whose key an earlier task may hold. */
export type DedupeVerdict = "create" | "deduplicate" | "replace" | Problem;

/** `nowMs`: by the clock that the holder's times follow. */
export function judgeDedupe(
  asked: Pick<KeyHolder, "dedupe" | "queue" | "shape">,
  holder: KeyHolder | null,
  nowMs: number,
): DedupeVerdict {
  if (holder === null || !isTaken(asked.dedupe, holder, nowMs)) return "create";
  const conflict = conflictOf(asked, holder);
  if (conflict !== null) return conflict;
  return asked.dedupe.mode === "first" ? "deduplicate" : "replace";
}

/**
 * `first` holds its key for its own window, whatever becomes of the task. `replace` asks how old the earlier task may be;
 * a request of another mode goes by the holder's figure. `debounce` holds its key until it is called.
 */
function isTaken(asked: Dedupe, { dedupe, createdMs, isUntouched }: KeyHolder, nowMs: number): boolean {
  const isWithin = (seconds: number) => nowMs - createdMs < seconds * 1000;
  if (dedupe.mode === "first") return isWithin(dedupe.windowSeconds);
  if (dedupe.mode === "debounce") return isUntouched;
  return isUntouched && isWithin((asked.mode === "replace" ? asked : dedupe).windowSeconds);
}

const DIALECTS = { queue: "queue tasks (webhook_url)", direct: "direct tasks (targetUrl)" };

function conflictOf(asked: Pick<KeyHolder, "dedupe" | "queue" | "shape">, holder: KeyHolder): Problem | null {
  const { key } = asked.dedupe;
  const taken = (what: string, value: string) => new Problem("dedupe_conflict", { key, what, value });
  if (holder.dedupe.mode !== asked.dedupe.mode) return taken("mode", holder.dedupe.mode);
  if (holder.queue !== asked.queue) return taken("queue", holder.queue);
  if (holder.shape !== asked.shape) return taken("dialect", DIALECTS[holder.shape]);
  return null;
}
