import type { LookedUp } from "./json/look-up.ts";

/** How far a call got: a paid call that was sent and not answered differs from one that was never sent. */
export type Phase = "not_sent" | "sent" | "responded";

/** Network failures by stable codes. The library's own message is never recorded. */
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

/** Progress of a call in milliseconds since its start. */
interface CallTiming {
  /** Until the connection was open; 0 for a reused one. Absent if it never was. */
  readonly connectMs?: number;
  /** Until the answer's headers arrived. */
  readonly firstByteMs?: number;
  readonly durationMs: number;
}

export interface CallResponse extends CallTiming {
  readonly kind: "response";
  readonly statusCode: number;
  /** Names in lower case; a header that came several times is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Text that PostgreSQL can store: no NUL, no lone surrogates, invalid UTF-8 replaced. */
  readonly body: string;
  /** The target sent more than we read. */
  readonly truncated: boolean;
  /** The values found in the body, if a thread parsed it. */
  readonly found?: LookedUp;
}

export interface CallFailure extends CallTiming {
  readonly kind: "failure";
  readonly code: FailureCode;
  /** One sentence for people, without header values, bodies or credentials. */
  readonly message: string;
  readonly phase: Phase;
  /** Set if the answer began and broke off before its last byte. */
  readonly statusCode: number | null;
}

/** The result of one attempt on the network. A network failure is data, never an exception. */
export type Outcome = CallResponse | CallFailure;
