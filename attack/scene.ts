/** One attack. A file in scenes/ exports one as `scene`. */
export interface Scene {
  /** One sentence: the attacker does this. */
  readonly what: string;
  /** It touches addresses or names beyond 127.0.0.1: run only in a network namespace of its own. */
  readonly ownNetwork?: true;
  /** Settings of the server on top of the runner's. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long the attack is watched, 10 unless given, at most 70. */
  readonly seconds?: number;
  /** What the other team waits for: the call of its task, a poll of its job, or a notification. */
  readonly victim?: VictimKind;
  /**
   * The load of an actor that declares its cost: the goals are those of `FAIRNESS`, and the victim, who creates forty tasks a
   * second, is judged by the 99th percentile.
   */
  readonly isFairness?: true;
  /** Other goals than the usual. */
  readonly goals?: Partial<Record<Goal, number>>;
  /** Of the goals, those that this attack does not have to meet, each with the reason. */
  readonly excused?: Partial<Record<Goal, string>>;
  /**
   * Makes teams and whatever else must be there beforehand, and returns the attack, which goes on until `signal` is
   * aborted or it has done its worst. Everything up to the return is not measured.
   */
  readonly prepare: (stage: Stage) => Promise<(signal: AbortSignal) => Promise<void>>;
  /** What else must hold once it is over; each text is a miss. */
  readonly check?: (stage: Stage) => Promise<readonly string[]>;
}

export type VictimKind = "task" | "poll" | "notification";

/** /livez must answer, the victim must be served, and memory must stay, within these. */
export const GOALS = { livezMs: 100, victimMs: 200, memory: 1.3 } as const;
/** What one free team may do to another's start and to the event loop; memory is that of the load. */
export const FAIRNESS = { livezMs: 200, victimMs: 300, memory: 4 } as const;
export type Goal = keyof typeof GOALS;

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: unknown;
}

/** What a scene has to work with: a server of its own on loopback, and the attacker's own target. */
export interface Stage {
  readonly url: string;
  readonly operatorKey: string;
  /** Of the node's process. */
  readonly pid: number;
  /** The attacker's target: `/hang` never answers, `/ok` answers `{}`, `/error` 500. Scenes may add further paths. */
  readonly target: AttackTarget;
  /** Makes a team with a live key. `owner` is a mail address: the same one is the same person. */
  team(options?: {
    plan?: "free" | "pro" | "enterprise";
    owner?: string;
  }): Promise<{ key: string; id: string }>;
  /** A statement of the attack's own on the server's database, such as one that makes rows old. */
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** What the database takes up, as it tells itself. */
  storedBytes(): Promise<number>;
  request(
    method: string,
    path: string,
    options?: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** Like request, and throws if the answer is not a 2xx: for what the attack is built on. */
  must(
    method: string,
    path: string,
    options?: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>;
}

export interface AttackTarget {
  readonly url: string;
  /** Requests under way right now. */
  readonly open: number;
  /** Requests seen so far by path, without its query. */
  readonly seen: ReadonlyMap<string, number>;
  answer(path: string, handler: import("node:http").RequestListener): void;
}
