/** What the bench asks of the load generator, and what it hears back (over the IPC channel of the child process). */
export interface LoadJob {
  /** closed: each connection submits its next task when the last is answered. open: tasks go out at a fixed rate. */
  kind: "closed" | "open";
  /** Connections are spread over them in turn. */
  submitUrls: string[];
  headers: Record<string, string>;
  /** Whether each task comes with an Idempotency-Key of its own. */
  keyed: boolean;
  /**
   * Tasks take turns with these bodies, each cut at the places where the sequence number goes: joining is cheaper than
   * building JSON per task.
   */
  bodies: string[][];
  targetUrl: string;
  from: number;
  count: number;
  connections: number;
  /** Tasks per second; open only. */
  rate: number;
  /** Of so many tasks one is answered 500 by the target when it first arrives; 0: none. */
  failEvery: number;
}

export interface LoadResult {
  accepted: number;
  /** Answers of 503, which were submitted again a little later. */
  refused: number;
  /** Other answers and network errors by status (0: no answer). Each is a task that was never accepted. */
  failures: Record<string, number>;
  received: number;
  repeated: number;
  strays: number;
  /** Accepted, but never seen by the target. */
  lost: number;
  tasksPerSecond: number;
  /** Without the first tenth and the last fifth of the arrivals: what it is once under way, and before the stragglers. */
  steadyTasksPerSecond: number;
  /** From the last answer to the last call: how far calling was behind accepting. */
  drainMs: number;
  acceptMs: Quantiles;
  acceptToCallMs: Quantiles;
  submitToCallMs: Quantiles;
  /** How late the generator itself was against its schedule (open only): if this is large, distrust the rest. */
  scheduleLagMs: Quantiles;
}

export interface Quantiles {
  p50: number;
  p99: number;
}
