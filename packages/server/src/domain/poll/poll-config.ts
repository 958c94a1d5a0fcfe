import type { Method } from "../call.ts";

/** How to poll a third party's job: from the catalog, or the caller's own. Field names are the API's. */
export interface PollConfig {
  /** May hold `{startResult.body.<path>}`, filled from the body of the answer to the first call. */
  readonly urlTemplate: string;
  /** Seconds between polls. */
  readonly interval: number;
  /** Dotted path to the status in an answer, or `_httpStatus`. */
  readonly statusPath: string;
  readonly doneValues: readonly string[];
  readonly failValues: readonly string[];
  /** Dotted path to the result; empty for the whole answer; `_binaryUrl` for bytes that are not stored. */
  readonly resultPath: string;
  readonly errorPath?: string;
  /** Where to fetch the result when the status answer does not hold it. */
  readonly resultUrlTemplate?: string;
  /** Where and how to cancel the third party's job; POST by default. */
  readonly cancelUrlTemplate?: string;
  readonly cancelMethod?: Method;
  /** Send the first call's Authorization and X-API-Key, only to trusted origins. */
  readonly forwardAuth: boolean;
  /** Further headers of the first call to send, by the same rule. */
  readonly forwardHeaders?: readonly string[];
  /** Seconds of polling before giving up. */
  readonly maxDuration: number;
}

export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly pollConfig: PollConfig;
}

export const POLL_DEFAULTS = { interval: 5, resultPath: "", forwardAuth: true, maxDuration: 600 } as const;
