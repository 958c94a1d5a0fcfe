/**
 * What a message of the QStash-compatible API has besides its task: null for every other task. Stored with the task, so
 * that any node can make its call and decide about the answer.
 */
export interface Message {
  /** The task's body is the base64 of the bytes to send, because they are no text that PostgreSQL can store. */
  readonly base64?: true;
  readonly redact?: Redaction;
  /** An expression for the delay before a retry, in milliseconds. Absent: the default of QStash. */
  readonly retryDelay?: string;
  /** The URL group that it was published to, and the name of its endpoint. */
  readonly topic?: string;
  readonly endpoint?: string;
  /** The id of the schedule that published it. */
  readonly schedule?: string;
  readonly callback?: MessageCallback;
  readonly failureCallback?: MessageCallback;
  /** The names of headers that only the last retry with headers has given: the next one replaces them. */
  readonly added?: readonly string[];
  /** Set in a callback: the message that it tells about. */
  readonly source?: string;
  /** Set in a callback of a message in a queue of its own: that queue's id. If it is ordered, its next message waits. */
  readonly lineOf?: number;
  readonly notBeforeMs?: number;
  readonly flow?: MessageFlow;
  /** Only in the template of a schedule: how it was written. */
  readonly scheduled?: { readonly cron: string; readonly destination: string };
}

export interface MessageFlow {
  readonly key: string;
  readonly parallelism?: number;
  readonly rate?: number;
  readonly periodSeconds?: number;
}

/** A message to publish about an attempt, or about the failure. */
export interface MessageCallback {
  readonly url: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
  readonly retries?: number;
  readonly retryDelay?: string;
  readonly delaySeconds?: number;
}

/** Fields that no answer shows. The call has the original. */
export interface Redaction {
  readonly body?: true;
  /** All headers, or those with these names in lower case. */
  readonly headers?: true | readonly string[];
}

export function isRedacted({ headers }: Redaction, name: string): boolean {
  return headers === true || headers?.includes(name.toLowerCase()) === true;
}
