/** What was asked for and can be seen to be kept by the answers of the API and the calls that targets got, without a look into the database. */
export interface Wish {
  readonly priority: number;
  readonly delayMs: number;
  /** The key of its flow, which says its limits: see flows.ts and lines.ts. */
  readonly flow: string | null;
  readonly dedupe: { readonly key: string; readonly windowMs: number } | null;
  /** Of the last wave: its call is held until so many of its group are open. */
  readonly wave: { readonly group: string; readonly of: number } | null;
}

/** Of a task with nothing special. */
export const NO_WISH: Wish = { priority: 5, delayMs: 0, flow: null, dedupe: null, wave: null };

/** What a queue is asked to be. */
export interface Limits {
  readonly concurrency: number;
  readonly rate: { readonly calls: number; readonly periodMs: number } | null;
  readonly ordered: boolean;
  /** Failed attempts that open the breaker of its only host. */
  readonly breaker: { readonly failures: number; readonly cooldownMs: number } | null;
}

/** The target of a queue with a breaker failed every call. */
export interface Spell {
  readonly queue: string;
  readonly from: number;
  readonly to: number;
}

/** What the API said at once of all breakers. */
export interface BreakerView {
  readonly at: number;
  readonly endedAt: number;
  readonly held: readonly {
    readonly queue: string;
    readonly state: string;
    readonly openedAt: number;
    readonly until: number;
  }[];
}

/** What the API says of a task at the end. */
export interface Fate {
  readonly taskId: string;
  /** Null: it knows no such task. */
  readonly status: string | null;
  readonly failureReason: string | null;
}

/** A simulated task of a test key: what it was to come to, and what the API says; null if it knows no such task. */
export interface SandboxTask {
  readonly taskId: string;
  readonly expected: SandboxEnd;
  readonly found: SandboxEnd | null;
}

export interface SandboxEnd {
  readonly status: string;
  readonly attempts: number;
  readonly value: string | null;
}
