import { type LookedUp, lookUp } from "../json/look-up.ts";
import type { CallFailure, CallResponse, Outcome } from "../outcome.ts";
import { cutToBytes } from "../result-body.ts";
import type { TaskResult } from "../task.ts";
import type { PollConfig } from "./poll-config.ts";

/** As `statusPath`: the HTTP status of the answer is the status. */
export const HTTP_STATUS = "_httpStatus";
/** As `resultPath`: the answer is the bytes themselves, which are not stored. */
export const BINARY_URL = "_binaryUrl";

/** The state of consecutive polls, stored in the row between two polls. */
export interface PollState {
  /** Consecutive answers 401 or 403. */
  readonly authFailures: number;
  /** Answers 5xx to result fetches. */
  readonly resultFailures: number;
}

export const FRESH_POLL: PollState = { authFailures: 0, resultFailures: 0 };

/** The poll or result fetch that was just made. */
export interface Poll {
  readonly url: string;
  /** Milliseconds since the first call. */
  readonly durationMs: number;
  /** Headers withheld because the URL's origin is not trusted. */
  readonly withheld?: readonly string[];
  /** Maximum stored bytes of a result. */
  readonly keepBytes: number;
}

/** The paths to look up in the answer, possibly beyond the stored part: its status, a part that is its result. */
export function pollPaths(config: PollConfig, fetching: boolean): string[] {
  const paths = new Set<string>();
  if (config.resultPath !== "" && config.resultPath !== BINARY_URL) paths.add(config.resultPath);
  if (!fetching && config.statusPath !== HTTP_STATUS) paths.add(config.statusPath);
  if (!fetching && config.errorPath !== undefined) paths.add(config.errorPath);
  return [...paths];
}

/** Whether the answer must be read beyond the stored part, to find its status or result. */
export function mustBeReadWhole(config: PollConfig, fetching: boolean): boolean {
  const isPart = config.resultPath !== "" && config.resultPath !== BINARY_URL;
  return isPart || (!fetching && config.statusPath !== HTTP_STATUS);
}

function foundIn(response: CallResponse, paths: readonly string[], { keepBytes }: Poll): LookedUp {
  return (
    response.found ?? (paths.length === 0 ? NOTHING : lookUp(response.body, paths, foundBytes(keepBytes)))
  );
}

/** Maximum bytes of a looked-up value: a status and a message may be longer than the stored part. */
export function foundBytes(keepBytes: number): number {
  return Math.max(keepBytes, 2 * LONGEST_ERROR_BYTES);
}

const NOTHING: LookedUp = { kind: "json", values: new Map() };

export type PollVerdict =
  /** Still running, or a temporary error named by `error`. */
  | { readonly kind: "again"; readonly state: PollState; readonly error: string | null }
  /** Done; the result is at `resultUrlTemplate`. */
  | { readonly kind: "fetchResult"; readonly state: PollState }
  | { readonly kind: "done"; readonly result: TaskResult }
  | {
      readonly kind: "failed";
      readonly reason: "poll_failed" | "blocked";
      readonly error: string;
      readonly result: TaskResult | null;
    };

/** A credential refused this often in a row will not be accepted later. */
const MOST_REFUSALS = 3;

/**
 * fal answers a result request of a failed job with the status the job ended in, which may be a 5xx. It stays the same
 * when repeated; the error of a gateway does not.
 */
const MOST_RESULT_FAILURES = 3;

/** Enough for a provider's message; the whole answer is in the result. */
const LONGEST_ERROR_BYTES = 4096;

/** Judges one poll. */
export function judgePoll(config: PollConfig, outcome: Outcome, state: PollState, poll: Poll): PollVerdict {
  if (outcome.kind === "failure") return judgeFailure(outcome, state);
  const json = foundIn(outcome, pollPaths(config, false), poll);
  const status = readStatus(config, outcome, json);
  if (status !== null && config.failValues.includes(status)) {
    return fail(reportedError(config, outcome, json, status), outcome, poll);
  }
  if (status !== null && config.doneValues.includes(status) && isTold(config, outcome)) {
    return config.resultUrlTemplate === undefined
      ? { kind: "done", result: toResult(config, outcome, json, poll) }
      : { kind: "fetchResult", state: { ...state, authFailures: 0 } };
  }
  if (isAuthFailure(outcome)) return judgeAuthFailure(outcome, state, poll);
  // A repeated answer would be as long.
  if (isSuccess(outcome) && config.statusPath !== HTTP_STATUS) {
    if (json.kind === "refused") return fail(`The provider's answer ${json.reason}`, outcome, poll);
    if (outcome.truncated && json.kind === "not_json")
      return fail("The provider's answer is too large for its status to be read", outcome, poll);
  }
  return {
    kind: "again",
    state: { ...state, authFailures: 0 },
    error: troubleOf(config, outcome, json, status),
  };
}

/** Judges the answer at `resultUrlTemplate` for a job with a done status. */
export function judgeResultFetch(
  config: PollConfig,
  outcome: Outcome,
  state: PollState,
  poll: Poll,
): PollVerdict {
  if (outcome.kind === "failure") return judgeFailure(outcome, state);
  if (isSuccess(outcome)) {
    const json = foundIn(outcome, pollPaths(config, true), poll);
    if (json.kind === "refused") return fail(`The provider's answer ${json.reason}`, outcome, poll);
    return { kind: "done", result: toResult(config, outcome, json, poll) };
  }
  const { statusCode } = outcome;
  const resultFailures = state.resultFailures + (statusCode >= 500 ? 1 : 0);
  if (statusCode === 429 || (statusCode >= 500 && resultFailures < MOST_RESULT_FAILURES)) {
    return { kind: "again", state: { ...state, resultFailures }, error: answered(outcome) };
  }
  const error = outcome.body.trim() === "" ? `${answered(outcome)} instead of the result` : outcome.body;
  return fail(error, outcome, poll);
}

/** The network may recover; a refusal by our own policy is final. */
function judgeFailure({ code, message }: CallFailure, state: PollState): PollVerdict {
  if (code === "blocked" || code === "invalid_request") {
    return {
      kind: "failed",
      reason: code === "blocked" ? "blocked" : "poll_failed",
      error: message,
      result: null,
    };
  }
  return { kind: "again", state: { ...state, authFailures: 0 }, error: message };
}

function judgeAuthFailure(response: CallResponse, state: PollState, poll: Poll): PollVerdict {
  const authFailures = state.authFailures + 1;
  if (authFailures < MOST_REFUSALS) {
    return { kind: "again", state: { ...state, authFailures }, error: answered(response) };
  }
  const { withheld = [] } = poll;
  const hint =
    withheld.length === 0
      ? ""
      : `; ${withheld.join(", ")} did not go along, because the poll goes to another origin than the first call`;
  return fail(`${answered(response)} ${MOST_REFUSALS} times in a row${hint}`, response, poll);
}

/** Compared as text. Null if the answer has no status: the JSON of an error page is not the job's. */
function readStatus(config: PollConfig, response: CallResponse, json: LookedUp): string | null {
  const { statusCode } = response;
  if (config.statusPath === HTTP_STATUS) return String(statusCode);
  if (json.kind !== "json" || statusCode >= 500 || statusCode === 429 || isAuthFailure(response)) return null;
  const status = json.values.get(config.statusPath);
  return status === undefined || status.type === "object" || status.type === "array" ? null : status.text;
}

/** A 4xx may report a failed job; only a 2xx may report a done one. */
function isTold(config: PollConfig, response: CallResponse): boolean {
  return config.statusPath === HTTP_STATUS || isSuccess(response);
}

function reportedError(config: PollConfig, response: CallResponse, json: LookedUp, status: string): string {
  const told = json.kind === "json" ? json.values.get(config.errorPath ?? "")?.text : undefined;
  if (config.errorPath !== undefined && told !== undefined && told !== "") return told;
  return config.statusPath === HTTP_STATUS
    ? answered(response)
    : `The provider reported the status "${status}"`;
}

function troubleOf(
  config: PollConfig,
  response: CallResponse,
  json: LookedUp,
  status: string | null,
): string | null {
  if (!isSuccess(response)) return answered(response);
  if (status !== null) return null;
  return json.kind === "not_json"
    ? "The provider's answer is not JSON"
    : `The provider's answer has no "${config.statusPath}"`;
}

function toResult(config: PollConfig, response: CallResponse, json: LookedUp, poll: Poll): TaskResult {
  if (config.resultPath === BINARY_URL) return cutResult(response, JSON.stringify({ url: poll.url }), poll);
  const found =
    json.kind === "json" && config.resultPath !== "" ? json.values.get(config.resultPath) : undefined;
  if (found === undefined) return wholeResult(response, poll);
  const result = cutResult(response, found.text, poll);
  return found.cut ? { ...result, truncated: true } : result;
}

function wholeResult(response: CallResponse, poll: Poll): TaskResult {
  const result = cutResult(response, response.body, poll);
  return response.truncated ? { ...result, truncated: true } : result;
}

function cutResult({ statusCode, headers }: CallResponse, body: string, poll: Poll): TaskResult {
  const { text, cut } = cutToBytes(body, poll.keepBytes);
  const result = { statusCode, headers, body: text, duration: poll.durationMs };
  return cut ? { ...result, truncated: true } : result;
}

function fail(error: string, response: CallResponse, poll: Poll): PollVerdict {
  const { text, cut } = cutToBytes(error, LONGEST_ERROR_BYTES);
  return {
    kind: "failed",
    reason: "poll_failed",
    error: cut ? `${text}…` : text,
    result: wholeResult(response, poll),
  };
}

function answered({ statusCode }: CallResponse): string {
  return `The provider answered ${statusCode}`;
}

function isAuthFailure({ statusCode }: CallResponse): boolean {
  return statusCode === 401 || statusCode === 403;
}

function isSuccess({ statusCode }: CallResponse): boolean {
  return statusCode >= 200 && statusCode < 300;
}
