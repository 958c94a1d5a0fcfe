import type { LookedUp } from "./json/look-up.ts";

/** How far a call got: a paid call that was sent and never answered is not the same as one that never left. */
export type Phase = "not_sent" | "sent" | "responded";

/** What went wrong on the network, in words that never change. The library's own message is never recorded. */
export type FailureCode =
  | "dns_failed"
  | "connect_failed"
  | "connect_timeout"
  | "connection_reset"
  | "tls_error"
  | "timeout"
  | "blocked"
  | "aborted"
  | "invalid_request"
  | "invalid_response";

/** When a call got how far, in milliseconds since it began. */
interface CallTiming {
  /** Until there was a connection to write to; 0 where one was open. Left out: it never came to that. */
  readonly connectMs?: number;
  /** Until the answer's head was there. */
  readonly firstByteMs?: number;
  readonly durationMs: number;
}

export interface CallResponse extends CallTiming {
  readonly kind: "response";
  readonly statusCode: number;
  /** Names in lower case; a header that came several times is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Text that PostgreSQL can hold: no NUL, no lone surrogates, invalid UTF-8 replaced. */
  readonly body: string;
  /** The target sent more than we read. */
  readonly truncated: boolean;
  /** What the task looks for in the body, where that was read elsewhere than on the event loop. */
  readonly found?: LookedUp;
}

export interface CallFailure extends CallTiming {
  readonly kind: "failure";
  readonly code: FailureCode;
  /** One sentence for people. Holds no header value, body or credential. */
  readonly message: string;
  readonly phase: Phase;
  /** Known when the answer began and broke off before its last byte. */
  readonly statusCode: number | null;
}

/** What the network said about one attempt. A network failure is data, never an exception. */
export type Outcome = CallResponse | CallFailure;
