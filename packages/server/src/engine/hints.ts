import type { Sql } from "../store/sql.ts";
import { type Hint, hintText, sendHints } from "../store/tasks/hints.ts";
import type { Log } from "./log.ts";

/** Tells the other nodes what changed. Nothing waits for it: a lost hint costs a poll interval. */
export type SayHint = (hint: Hint) => void;

/**
 * One statement at a time: what is to be said meanwhile is said together by the next, each thing once. Commits that notify
 * queue up behind each other in PostgreSQL, so a burst of tasks must not become a burst of these.
 */
export function createHints(deps: {
  readonly sql: Sql;
  readonly workerId: () => number;
  /** Whether there is any other worker. */
  readonly hasReceivers: () => boolean;
  readonly log: Log;
}): SayHint {
  const unsaid = new Set<string>();
  let isSpeaking = false;

  async function speak(): Promise<void> {
    isSpeaking = true;
    while (unsaid.size > 0) {
      const messages = [...unsaid];
      unsaid.clear();
      await sendHints(deps.sql, messages).catch((err) => deps.log.debug({ err }, "hint.lost"));
    }
    isSpeaking = false;
  }

  return (hint) => {
    if (!deps.hasReceivers()) return;
    unsaid.add(hintText(hint, deps.workerId()));
    if (!isSpeaking) void speak();
  };
}
