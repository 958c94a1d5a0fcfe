import { RETRY_MAX_DELAY_SECONDS } from "./backoff.ts";
import { canonicalText } from "./canonical-text.ts";
import type { TaskSettings, TaskTerms } from "./task.ts";

/*
 * Two requests under one idempotency key are the same if their texts are equal, or if they would create the same task:
 * an omitted setting has the queue's value.
 */

type AskedSettings = Pick<TaskTerms, keyof TaskSettings>;

/** The texts by which requests are compared. */
export interface RequestTexts {
  /** The request in canonical form. Empty without an idempotency key. */
  readonly requestText: string;
  /** The same without the settings that a queue has too; null if the request has none of them. */
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
 * The settings of a task as comparable text: for a request with the queue's values where it omits some, for a stored
 * task without.
 */
export function settingsText(asked: AskedSettings, queue: AskedSettings | null): string {
  return JSON.stringify(SETTINGS.map((name) => asked[name] ?? queue?.[name] ?? UNSTORED[name] ?? null));
}

/** Stored as null if they have the usual value. */
const UNSTORED: Partial<AskedSettings> = {
  retryMaxDelaySeconds: RETRY_MAX_DELAY_SECONDS,
  noRetryStatuses: [],
};
