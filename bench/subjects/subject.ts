import type { ClientConfig } from "pg";
import type { ProbedProcess } from "../probe-client.ts";

/** Something that takes tasks over HTTP and calls the target. A peer joins the bench as one more file in this directory. */
export interface Subject {
  name: string;
  /** Says why it cannot run here, if it cannot; may install what it needs. */
  findMissing?(): string | undefined;
  start(setting: SubjectSetting): Promise<RunningSubject>;
}

export interface SubjectSetting {
  /** Empty, and removed after the run. */
  dataDir: string;
  logFile: string;
  /** Where all calls go. */
  targetUrl: string;
  /** How many calls may be in flight at once; peers run at their own best. */
  concurrency: number;
  /** Tasks are to wait in the database until they are claimed, where the subject has to be told. */
  claims: boolean;
  /** A peer is to store tasks in groups. */
  grouped: boolean;
  /** Another concurrency than a peer's best. */
  atOnce?: number;
}

export interface RunningSubject {
  /** Its processes; what they started (PostgreSQL, Redis) is counted apart. */
  pids: number[];
  /** A database that was started for it, which is counted with what it started itself. */
  databasePid?: number;
  /** Where it stores its tasks, if that is a PostgreSQL which the bench may ask. */
  database?: string | ClientConfig;
  /** The process that has the probe loaded. */
  probed?: ProbedProcess;
  submitUrls: string[];
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

/** What the front door of skeleton and peers takes. */
export function frontDoorBody(seq: number, targetUrl: string): string {
  return JSON.stringify({ webhook_url: targetUrl, payload: payloadFor(seq) });
}
