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
  const unsaid = new Map<string, Hint>();
  let isSpeaking = false;

  async function speak(): Promise<void> {
    isSpeaking = true;
    while (unsaid.size > 0) {
      const messages = [...unsaid.values()].map((hint) => hintText(hint, deps.workerId()));
      unsaid.clear();
      await sendHints(deps.sql, messages).catch((err) => deps.log.debug({ err }, "hint.lost"));
    }
    isSpeaking = false;
  }

  return (hint) => {
    if (!deps.hasReceivers()) return;
    const key = hintText("flow" in hint ? { ...hint, turn: undefined } : hint, 0);
    const other = unsaid.get(key);
    unsaid.set(key, other === undefined ? hint : earlier(hint, other));
    if (!isSpeaking) void speak();
  };
}

/** Of two hints that differ in the turn alone, the one that allows for both. */
function earlier(one: Hint, other: Hint): Hint {
  if (!("flow" in one) || !("flow" in other) || one.turn === undefined || other.turn === undefined)
    return "flow" in one && one.turn === undefined ? one : other;
  return one.turn < other.turn ? one : other;
}
