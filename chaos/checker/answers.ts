import type { Answer, Fault, History } from "./history.ts";
import type { Violation } from "./violation.ts";

const LONGEST_MS = 2_000;
/** It finds its tasks first. */
const LONGEST_BULK_MS = 5_000;
/** A callback that comes before the answer to its call is held for up to five seconds. */
const LONGEST_CALLBACK_MS = 7_000;
/** All of it runs on one crowded machine, and the runner reads the clock a little late. */
const CROWD_MS = 500;
/**
 * After a fault has ended a node may refuse for so long; and after it stood still, be slow: it finds all that was sent to
 * it meanwhile, and some systems have taken the pages of its code away.
 */
const RECOVERY_MS = 5_000;

/** Every request is answered in time, and refused only while something is wrong. */
export function checkAnswers(history: History): Violation[] {
  return history.answers.flatMap((answer) => {
    const text = complaint(answer, history);
    return text === null ? [] : [{ promise: "answers", text, taskId: answer.taskId, at: answer.at }];
  });
}

function complaint(answer: Answer, history: History): string | null {
  const { status, failure, action, node } = answer;
  const what = `${action} at node ${node}`;
  const tookMs = answerMs(answer, history);
  const longest =
    action === "callback" ? LONGEST_CALLBACK_MS : action === "bulk" ? LONGEST_BULK_MS : LONGEST_MS;
  if (tookMs > longest + CROWD_MS && !wasStopped(answer, history)) {
    const how =
      failure === "timeout" ? "was not answered at all in" : `was answered (${status ?? failure}) after`;
    return `${what} ${how} ${(tookMs / 1000).toFixed(1)} s, of ${longest / 1000} s allowed`;
  }
  if (status === 500) return `${what} was answered 500: a bug`;
  if (status === 503 && !hasCause(answer, history)) return `${what} was answered 503 without any fault`;
  return null;
}

/** Without the time in which the runner itself did not look. */
function answerMs({ at, endedAt }: Answer, { lags }: History): number {
  const blind = lags.filter((lag) => lag.at >= at && lag.at - lag.ms <= endedAt);
  return endedAt - at - blind.reduce((sum, { ms }) => sum + ms, 0);
}

/** How long it took, where that says something about Bellhop; null where it does not. */
export function fairMs(answer: Answer, history: History): number | null {
  if (answer.status === null || answer.action === "callback" || wasStopped(answer, history)) return null;
  return answerMs(answer, history);
}

/** A process that is stopped or was killed answers nobody: that says nothing about Bellhop. */
function wasStopped({ node, at, endedAt }: Answer, { faults, lives }: History): boolean {
  const isPaused = faults.some(
    (fault) =>
      fault.paused.length > 0 &&
      fault.nodes.includes(node) &&
      fault.from <= endedAt &&
      fault.to + RECOVERY_MS >= at,
  );
  const wasKilled = lives.some(
    (life) =>
      life.node === node &&
      life.killed &&
      life.endedAt !== null &&
      life.endedAt >= at &&
      life.endedAt <= endedAt,
  );
  return isPaused || wasKilled;
}

function hasCause({ at, endedAt, node }: Answer, { faults, lives }: History): boolean {
  const isStopping = lives.some(
    (life) =>
      life.node === node && life.askedAt !== null && life.askedAt <= endedAt && (life.endedAt ?? at) >= at,
  );
  // What happens to one node is no reason for another to refuse.
  const isOurs = ({ nodes }: Fault) => nodes.length === 0 || nodes.includes(node);
  return (
    isStopping ||
    faults.some((fault) => isOurs(fault) && fault.from <= endedAt && fault.to + RECOVERY_MS >= at)
  );
}
