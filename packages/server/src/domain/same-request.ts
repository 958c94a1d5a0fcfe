import { RETRY_MAX_DELAY_SECONDS } from "./backoff.ts";
import { canonicalText } from "./canonical-text.ts";
import type { TaskSettings, TaskTerms } from "./task.ts";

/*
 * Two requests under one idempotency key are the same if they say the same, or if they would make the same task: a setting
 * that is left out is the queue's.
 */

type AskedSettings = Pick<TaskTerms, keyof TaskSettings>;

/** The texts by which requests are compared. */
export interface RequestTexts {
  /** What was asked for, however it was written. Empty without an idempotency key. */
  readonly requestText: string;
  /** The same without the settings that a queue has too; null where the request has none of them. */
  readonly bareText: string | null;
}

const LEFT_TO_THE_QUEUE: AskedSettings = {
  maxRetries: null,
  backoff: null,
  retryDelaySeconds: null,
  retryMaxDelaySeconds: null,
  noRetryStatuses: null,
  timeoutSeconds: null,
};

const SETTINGS = Object.keys(LEFT_TO_THE_QUEUE) as (keyof TaskSettings)[];

export function textsOf<T extends AskedSettings>(request: T): RequestTexts {
  const requestText = canonicalText(request);
  const isBare = SETTINGS.every((name) => request[name] === null);
  return { requestText, bareText: isBare ? null : canonicalText({ ...request, ...LEFT_TO_THE_QUEUE }) };
}

/**
 * The settings that a task has, as text to compare: of a request with those of its queue where it leaves some out, of a
 * stored task without any.
 */
export function settingsText(asked: AskedSettings, queue: AskedSettings | null): string {
  return JSON.stringify(SETTINGS.map((name) => asked[name] ?? queue?.[name] ?? UNSTORED[name] ?? null));
}

/** These are stored as null where they are the usual ones. */
const UNSTORED: Partial<AskedSettings> = {
  retryMaxDelaySeconds: RETRY_MAX_DELAY_SECONDS,
  noRetryStatuses: [],
};
