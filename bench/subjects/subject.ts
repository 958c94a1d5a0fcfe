/** Something that takes tasks over HTTP and calls the target. A peer joins the bench as one more file in this directory. */
export interface Subject {
  name: string;
  start(setting: SubjectSetting): Promise<RunningSubject>;
}

export interface SubjectSetting {
  /** Empty, and removed after the run. */
  dataDir: string;
  logFile: string;
  /** How many calls may be in flight at once. */
  concurrency: number;
}

export interface RunningSubject {
  pid: number;
  submitUrl: string;
  headers: Record<string, string>;
  /** The body that submits task `seq`; the target must receive payloadFor(seq). */
  bodyFor(seq: number, targetUrl: string): string;
  stop(): Promise<void>;
}

/** About the size of a small real event; the target knows the task by `seq`. */
export function payloadFor(seq: number): unknown {
  return {
    seq,
    type: "order.created",
    order: { id: "ord_01HZX3V7Q8", total: 4250, currency: "EUR", email: "guest@example.com" },
  };
}
