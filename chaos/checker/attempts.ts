import type { Seen } from "./history.ts";
import type { AttemptRecord } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** The database notes the commit, the target the arrival, by the same clock, each rounded in its own way. */
const CLOCK_MS = 5;

/** Promise C: the attempt was committed before its call arrived. */
export function checkCommittedFirst(stories: Stories): Violation[] {
  return stories.all.flatMap((story) =>
    story.calls.flatMap((call): Violation[] => {
      const claim = stories.claimOf(call);
      if (claim !== null && claim.committedAt <= call.begunAt + CLOCK_MS) return [];
      const text =
        claim === null
          ? `attempt ${call.attempt} was called, and no such attempt was ever committed`
          : `attempt ${call.attempt} was called ${(claim.committedAt - call.begunAt).toFixed(0)} ms before it was committed`;
      return [{ promise: "C", text, taskId: story.id, at: call.begunAt }];
    }),
  );
}

/**
 * The record and the target agree. The known limit: of an attempt that was sent and never answered, by a process that
 * died or a connection that broke, only the target knows whether it arrived.
 */
export function checkRecords(stories: Stories): Violation[] {
  return stories.all.flatMap((story) => {
    const violation = (text: string): Violation => ({
      promise: "attempts",
      text,
      taskId: story.id,
      at: story.changes.at(-1)?.committedAt ?? null,
    });
    return [
      ...missingRecords(story),
      ...story.calls.flatMap(unrecorded(story)),
      ...contradictions(story),
    ].map(violation);
  });
}

/** At rest each attempt that was begun is closed, once, in order. */
function missingRecords({ last }: Story): string[] {
  if (last === null || last.status === "active") return [];
  const numbers = last.attempts.map(({ number }) => number);
  const expected = Array.from({ length: last.attemptCount }, (_, index) => index + 1);
  if (numbers.join() === expected.join()) return [];
  return [`${last.attemptCount} attempts were begun, and the record has [${numbers.join(", ")}]`];
}

function unrecorded({ last }: Story): (call: Seen) => string[] {
  return ({ attempt }) => {
    const isOpen = last?.status === "active" && last.attemptCount === attempt;
    const isKnown = last === null || isOpen || last.attempts.some(({ number }) => number === attempt);
    return isKnown ? [] : [`attempt ${attempt} was called, and the record does not tell of it`];
  };
}

function contradictions({ last, calls }: Story): string[] {
  return (last?.attempts ?? []).flatMap((record) => {
    const call = calls.find(({ attempt }) => attempt === record.number);
    const text = contradiction(record, call);
    return text === null ? [] : [`attempt ${record.number} ${text}`];
  });
}

function contradiction({ phase, code }: AttemptRecord, call: Seen | undefined): string | null {
  if (call === undefined)
    return phase === "responded" ? "is recorded as answered, and no target saw it" : null;
  if (phase === "not_sent") return "is recorded as not sent, and a target saw it";
  if (phase !== "responded" || code === null || call.status === null || call.status === code) return null;
  return `is recorded with ${code}, and the target answered ${call.status}`;
}
