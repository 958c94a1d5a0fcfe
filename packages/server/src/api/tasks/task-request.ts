import type { ProblemDetail } from "../../domain/problem.ts";
import { MAX_WAIT_DEFAULT_SECONDS, PRIORITY_DEFAULT } from "../../domain/task.ts";
import type { TaskRequest } from "../../service/tasks/task-service.ts";
import { broken, invalid, unlike } from "../http/complaint.ts";
import { parseInstant } from "../http/instant.ts";
import type { OwnPollConfig } from "../schemas/poll-config.ts";
import { LONGEST_DELAY_SECONDS } from "../schemas/task-request.ts";
import { headerComplaints, isCallUrl } from "./outgoing-call.ts";
import { readPollConfig } from "./poll-config.ts";

/** What both shapes say, each in its own words. It has passed the schema of its shape. */
export interface Wish {
  readonly shape: TaskRequest["shape"];
  readonly queue: string;
  readonly call: TaskRequest["call"];
  readonly priority: number | undefined;
  readonly delay: number | undefined;
  readonly runAt: string | undefined;
  readonly maxRetries: number | undefined;
  readonly backoff: TaskRequest["backoff"] | undefined;
  readonly timeout: number | undefined;
  readonly waitForCallback: boolean | undefined;
  readonly maxWait: number | undefined;
  readonly provider: string | undefined;
  readonly pollConfig: OwnPollConfig | undefined;
  readonly onCompleteUrl: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly sign: boolean;
}

/** How the caller wrote it: complaints must name what was sent. */
export type FieldNames = Readonly<
  Record<
    "url" | "runAt" | "waitForCallback" | "provider" | "pollConfig" | "onCompleteUrl" | "idempotencyKey",
    string
  >
>;

export interface RequestContext {
  /** The whole body as it was written. */
  readonly text: string;
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined;
  readonly now: Date;
  readonly refuseUrl: RefuseUrl;
}

/** The egress policy's rule that a URL breaks, to stand behind the name of its field; or null. */
export type RefuseUrl = (url: string) => string | null;

/** The rules that no schema can say, for both shapes, and the defaults. `complaints` are the shape's own. */
export function readWish(
  wish: Wish,
  names: FieldNames,
  context: RequestContext,
  complaints: ProblemDetail[] = [],
): TaskRequest {
  const { call, delay, waitForCallback = false } = wish;
  const { now, idempotencyKey = wish.idempotencyKey } = context;
  const runAt = wish.runAt === undefined ? null : parseInstant(wish.runAt);
  complainAboutUrl(complaints, names.url, call.url, context.refuseUrl);
  complaints.push(...headerComplaints(call.headers));
  if (wish.runAt !== undefined) complainAboutTime(complaints, names.runAt, delay, runAt, now);
  complainAboutFollowUp(complaints, names, wish);
  const pollConfig = readOwn(complaints, wish.pollConfig, call.url);
  if (wish.onCompleteUrl !== undefined)
    complainAboutUrl(complaints, names.onCompleteUrl, wish.onCompleteUrl, context.refuseUrl);
  if (wish.idempotencyKey !== undefined && wish.idempotencyKey !== idempotencyKey)
    complaints.push(broken(names.idempotencyKey, "the same as the header Idempotency-Key"));
  if (complaints.length > 0) throw invalid(complaints);
  return {
    shape: wish.shape,
    queue: wish.queue,
    call,
    priority: wish.priority ?? PRIORITY_DEFAULT,
    delaySeconds: delay ?? 0,
    // The past means now, and only the database knows when now is.
    runAt: runAt !== null && runAt > now ? runAt : null,
    maxRetries: wish.maxRetries ?? null,
    backoff: wish.backoff ?? null,
    timeoutSeconds: wish.timeout ?? null,
    provider: wish.provider ?? null,
    pollConfig,
    waitForCallback,
    maxWaitSeconds: wish.maxWait ?? MAX_WAIT_DEFAULT_SECONDS,
    onCompleteUrl: wish.onCompleteUrl ?? null,
    sign: wish.sign,
    idempotencyKey: idempotencyKey ?? null,
    requestText: context.text,
  };
}

function complainAboutUrl(
  complaints: ProblemDetail[],
  field: string,
  url: string,
  refuseUrl: RefuseUrl,
): void {
  if (!isCallUrl(url)) {
    complaints.push(broken(field, "a valid http or https URL"));
    return;
  }
  const refusal = refuseUrl(url);
  if (refusal !== null) complaints.push({ field, error: `${field} ${refusal}` });
}

function complainAboutTime(
  complaints: ProblemDetail[],
  field: string,
  delay: number | undefined,
  runAt: Date | null,
  now: Date,
): void {
  if (delay !== undefined) complaints.push(unlike("delay", field));
  else if (runAt === null)
    complaints.push(broken(field, "an ISO 8601 time with a zone, such as 2030-01-31T09:00:00Z"));
  else if (runAt.getTime() - now.getTime() > LONGEST_DELAY_SECONDS * 1000)
    complaints.push(broken(field, "at most 1 year ahead"));
}

/** There is one way to go on after the first call. */
function complainAboutFollowUp(complaints: ProblemDetail[], names: FieldNames, wish: Wish): void {
  const { provider, pollConfig, waitForCallback } = wish;
  if (provider !== undefined && pollConfig !== undefined)
    complaints.push(unlike(names.provider, names.pollConfig));
  if (waitForCallback !== true) return;
  if (provider !== undefined) complaints.push(unlike(names.waitForCallback, names.provider));
  if (pollConfig !== undefined) complaints.push(unlike(names.waitForCallback, names.pollConfig));
}

function readOwn(
  complaints: ProblemDetail[],
  own: OwnPollConfig | undefined,
  url: string,
): TaskRequest["pollConfig"] {
  if (own === undefined) return null;
  const read = readPollConfig(own, url);
  if (read.ok) return read.pollConfig;
  complaints.push(...read.complaints);
  return null;
}
