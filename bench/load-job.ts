/** What the bench asks of the load generator, and what it hears back (over the IPC channel of the child process). */
export interface LoadJob {
  /** closed: each connection submits its next task when the last is answered. open: tasks go out at a fixed rate. */
  kind: "closed" | "open";
  submitUrl: string;
  headers: Record<string, string>;
  /** The body cut at each place where the sequence number goes: joining is cheaper than building JSON per task. */
  bodyPieces: string[];
  targetUrl: string;
  from: number;
  count: number;
  connections: number;
  /** Tasks per second; open only. */
  rate: number;
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
