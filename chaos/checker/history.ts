import type { BreakerView, Fate, Limits, SandboxTask, Spell, Wish } from "./outside/wishes.ts";
import type { Change, DedupeRow, NotificationRow, TaskRow, TaskStatus } from "./rows.ts";
import type { VaultRecord } from "./vault-record.ts";

/**
 * What one run left behind, parsed: what clients were told, what targets saw, every row change that was committed, what
 * was done to the processes, and the state at rest. Instants are milliseconds of the machine's clock, which all of
 * them share. The checker reads nothing else.
 */
export interface History {
  readonly answers: readonly Answer[];
  readonly seen: readonly Seen[];
  readonly changes: readonly Change[];
  readonly faults: readonly Fault[];
  readonly lives: readonly Life[];
  /** How long a round trip of each node to the database took, from when on. No promise is judged less strictly for it. */
  readonly latencies: readonly Latency[];
  /** Moments in which the runner or the disk was too slow for anybody to be in time. */
  readonly lags: readonly Lag[];
  /** What readers of events were told; none where nobody listened. */
  readonly readers: readonly Reader[];
  /** What receivers of webhooks were sent; none where there was no webhook. */
  readonly receivers: readonly Receiver[];
  /** When targets that fail for a while failed, and what was said of their circuit breakers; none where there is none. */
  readonly spells?: readonly Spell[];
  readonly breakers?: readonly BreakerView[];
  /** Simulated tasks of a test key; none where nobody has one. */
  readonly sandbox?: readonly SandboxTask[];
  /** What was stored in the vault; none where nobody uses it. */
  readonly vault?: VaultRecord;
  /** When other work took so much of the machine that nothing can be said about how long an answer took. */
  readonly crowded: readonly Span[];
  /** When clients began, faults ended, and everything was expected to have ended. */
  readonly beganAt: number;
  readonly calmAt: number;
  readonly endedAt: number;
  readonly rest: Rest;
}

export type Action =
  | "create"
  | "delete-task"
  | "cancel"
  | "retry"
  | "callback"
  | "pause"
  | "resume"
  | "limit"
  | "create-queue"
  | "delete-queue"
  | "schedule"
  | "bulk"
  | "webhook"
  | "sandbox"
  | "token"
  | "advance"
  | "read";

/** One request of a client and what it was told. */
export interface Answer {
  readonly action: Action;
  readonly node: number;
  readonly at: number;
  readonly endedAt: number;
  /** Null: no answer came. */
  readonly status: number | null;
  /** Why none came; null when one did. */
  readonly failure: "refused" | "reset" | "timeout" | null;
  /** The UUID, where the request or its answer names a task. */
  readonly taskId: string | null;
  readonly queue: string | null;
  /** What the request carried: a creation the nonce of its task, a callback its value. Null for all others. */
  readonly carried: string | null;
  /** Of a creation: what it asked for. Left out where nothing of it can be seen from outside. */
  readonly wish?: Wish;
  /** Of a creation with a deduplication key, where the rows are looked at: see dedupe.ts. */
  readonly joins?: Joins;
  /** Of a creation or a change of a queue: what the queue is to be. */
  readonly limits?: Limits;
  /** When the task in the answer was created, as its record says. */
  readonly createdAt?: number;
}

/** What a request asks for by its deduplication key, and what became of it. */
export interface Joins extends DedupeRow {
  /** Where it was answered with the task of an earlier request. */
  readonly how?: "deduplicated" | "replaced" | "repeated";
}

/** One request that a target received. */
export interface Seen {
  readonly kind: "call" | "poll" | "notification";
  readonly taskId: string;
  /** Of a call; null otherwise. */
  readonly attempt: number | null;
  readonly begunAt: number;
  /** Null: it was still open at the end of the run. */
  readonly endedAt: number | null;
  readonly endedBy: "target" | "caller" | null;
  /** The status that was sent, if one was. */
  readonly status: number | null;
  /** Whether the answer was whole; `doubtful` where the target lied about its length. */
  readonly whole: "yes" | "no" | "doubtful";
  /** What a poll answered or a notification said. */
  readonly says: string | null;
  /** Every nonce that the request carried, in its URL and in its body; an empty text where one should have been. */
  readonly nonces: readonly string[];
  /** Headers with a credential or the id of a token, and the one beside it; `body` where that has one. Absent where there is none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a call of a task with a deduplication key: the request that it was made of. Absent where that is not tried. */
  readonly request?: string;
  /** The value in the answer to a call or a poll; in a notification the value of the result. */
  readonly value: string | null;
}

/** One that follows the events of a team, over all its connections. */
export interface Reader {
  readonly teamId: number;
  /** When its first stream was open; null: none ever was. */
  readonly readyAt: number | null;
  readonly told: readonly ToldEvent[];
  /** It was not told of the last task before the run ended: it may lack what happened last. */
  readonly isBehind?: boolean;
}

export interface ToldEvent {
  readonly at: number;
  readonly id: string;
  readonly type: string;
  readonly taskId: string | null;
  /** The status of the task, as the event says; absent where it tells of no task. */
  readonly state?: string;
  /** The nonces of the task; none of a task that was deleted since. */
  readonly nonces: readonly string[];
}

/** One that a webhook of a team sends its events to. */
export interface Receiver {
  readonly teamId: number;
  /** The queue whose tasks it wants to know of; null: of all. */
  readonly queue: string | null;
  /** When the webhook was there. */
  readonly since: number;
  readonly received: readonly Delivery[];
}

/** One try to tell a receiver of an event. */
export interface Delivery {
  readonly at: number;
  /** The id of the delivery, the same on every try. */
  readonly id: string;
  /** Whether the signature was good. */
  readonly signed: boolean;
  readonly type: string;
  readonly taskId: string | null;
  /** The status of the task, as the event says; absent where it tells of no task. */
  readonly state?: string;
  /** When it happened, as the event says. */
  readonly happenedAt: number;
  readonly nonces: readonly string[];
  /** What the receiver answered. */
  readonly status: number;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Fault {
  readonly kind: string;
  readonly nodes: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly detail: string;
  /** The processes that were stopped by SIGSTOP, if any were. */
  readonly paused: readonly number[];
}

/** One process of a node, from its start to its end. */
export interface Life {
  readonly node: number;
  readonly pid: number;
  readonly startedAt: number;
  /** Null: it never said that it was ready. */
  readonly readyAt: number | null;
  /** When it was asked to stop by SIGTERM. */
  readonly askedAt: number | null;
  readonly endedAt: number | null;
  readonly killed: boolean;
  readonly exitCode: number | null;
}

export interface Latency {
  readonly node: number;
  readonly at: number;
  readonly ms: number;
}

export interface Lag {
  readonly at: number;
  readonly ms: number;
}

/** What the database and the API say once everything should have ended. */
export interface Rest {
  readonly at: number;
  readonly tasks: readonly TaskRow[];
  readonly notifications: readonly NotificationRow[];
  /** What the API says of tasks that have ended. */
  readonly records: readonly TaskRecord[];
  /** What the API says of every task that was accepted, where nothing but the API is asked. */
  readonly fates?: readonly Fate[];
  /** Deliveries of webhooks that are to be tried again later than the run lasts. */
  readonly undelivered: readonly Pick<Delivery, "type" | "taskId">[];
  readonly stats: readonly QueueStats[];
  /** The queue in which tasks of all priorities were started one after the other; null where that was not tried. */
  readonly orderedQueueId: number | null;
}

/** A task as the API shows it. */
export interface TaskRecord {
  readonly id: string;
  readonly status: TaskStatus;
  readonly nonces: readonly string[];
  /** The value in its result; null where it has none. */
  readonly value: string | null;
}

export interface QueueStats {
  readonly queueId: number;
  readonly name: string;
  readonly counts: Readonly<Record<TaskStatus, number>>;
}
