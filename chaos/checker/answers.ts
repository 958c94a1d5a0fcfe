import type { Action, Answer, Fault, History } from "./history.ts";
import type { Violation } from "./violation.ts";

const LONGEST_MS = 2_000;
/** It finds its tasks first. */
const LONGEST_BULK_MS = 5_000;
/** All that is due within that time happens before the answer. */
const LONGEST_ADVANCE_MS = 10_000;
/** A callback that comes before the answer to its call is held for up to five seconds. */
const LONGEST_CALLBACK_MS = 7_000;
const LONGEST: Partial<Record<Action, number>> = {
  bulk: LONGEST_BULK_MS,
  advance: LONGEST_ADVANCE_MS,
  callback: LONGEST_CALLBACK_MS,
};
/** All of it runs on one crowded machine, and the runner reads the clock a little late. */
const CROWD_MS = 500;
/**
 * After a fault has ended a node may refuse for so long; and after a freeze, be slow: it finds all that was sent to
 * it meanwhile, and some systems have taken the pages of its code away.
 */
const RECOVERY_MS = 5_000;

/** Every request is answered in time, and refused only while something is wrong. */
export function checkAnswers(history: History): Violation[] {
  return history.answers.flatMap((answer) => {
    const text = answer.status === 500 ? `${nameOf(answer)} was answered 500: a bug` : late(answer, history);
    return text === null || !isJudged(answer, history)
      ? []
      : [{ promise: "answers", text, taskId: answer.taskId, at: answer.at }];
  });
}

/** What was answered while other work took the machine, and how much of it would have been a violation otherwise. */
export function countUnjudged(history: History): { readonly answers: number; readonly late: number } {
  const unjudged = history.answers.filter((answer) => !isJudged(answer, history));
  return {
    answers: unjudged.length,
    late: unjudged.filter((answer) => late(answer, history) !== null).length,
  };
}

/** After the machine was taken it takes a while until everything that waited has had its turn. */
const CATCH_UP_MS = 1_000;

/** A 500 is a bug at any time; for the rest the machine must have been there for Bellhop. */
function isJudged({ at, endedAt, status }: Answer, { crowded }: History): boolean {
  return status === 500 || !crowded.some(({ from, to }) => from <= endedAt && to + CATCH_UP_MS >= at);
}

function nameOf({ action, node }: Answer): string {
  return `${action} at node ${node}`;
}

/** What is wrong with the time it took, or with a refusal that comes from taking too long. */
function late(answer: Answer, history: History): string | null {
  const { status, failure, action } = answer;
  const what = nameOf(answer);
  const tookMs = answerMs(answer, history);
  const longest = LONGEST[action] ?? LONGEST_MS;
  if (tookMs > longest + CROWD_MS && !wasStopped(answer, history)) {
    const how =
      failure === "timeout" ? "was not answered at all in" : `was answered (${status ?? failure}) after`;
    return `${what} ${how} ${(tookMs / 1000).toFixed(1)} s, of ${longest / 1000} s allowed`;
  }
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
  const isPatient = answer.action === "callback" || answer.action === "advance";
  if (answer.status === null || isPatient || wasStopped(answer, history)) return null;
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
