import type { Sql } from "../store/sql.ts";
import { type Hint, hintText, sendHints } from "../store/tasks/hints.ts";
import type { Log } from "./log.ts";

/** Tells the other nodes what changed. No caller waits for it: a lost hint costs one polling interval. */
export type SayHint = (hint: Hint) => void;

/**
 * Sends one statement at a time; hints that arrive meanwhile share the next one, each once. PostgreSQL serializes
 * commits that notify, so a burst of tasks must not become a burst of notifying commits.
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
