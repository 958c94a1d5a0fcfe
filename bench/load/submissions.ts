import { nowMs } from "./clock.ts";
import type { LoadJob } from "./load-job.ts";
import type { Submitter } from "./submitter.ts";

// A subject that refuses this often is broken or misconfigured, and no figure about it would mean anything.
const maxFailures = 100;
// Bellhop bounds its accept queue with 503; a client that comes back a moment later is the normal case.
const retryAfterMs = 100;

/** The submitting half of a measurement: what went out when, and what was answered when, by place in the range. */
export interface Submissions {
  submittedAt: Float64Array;
  acceptedAt: Float64Array;
  accepted: number;
  refused: number;
  failures: Record<string, number>;
  scheduleLagMs: number[];
}

/** Submits the tasks of the job, and resolves when each is answered or the job's time is up. */
export function submitAll(job: LoadJob, submitter: Submitter, limitMs: number): Promise<Submissions> {
  const startedAt = nowMs();
  const result: Submissions = {
    submittedAt: new Float64Array(job.count),
    acceptedAt: new Float64Array(job.count),
    accepted: 0,
    refused: 0,
    failures: {},
    scheduleLagMs: [],
  };
  let next = 0;
  let answered = 0;
  let failed = 0;

  return new Promise((resolve) => {
    const limit = setTimeout(finish, limitMs);

    function finish(): void {
      clearTimeout(limit);
      next = job.count;
      resolve(result);
    }

    function submitNext(): void {
      if (next >= job.count) return;
      const index = next++;
      result.submittedAt[index] = nowMs();
      submitter.submit(job.from + index, onEnd);
    }

    function onEnd(seq: number, status: number): void {
      const index = seq - job.from;
      if (status === 503) {
        result.refused++;
        if (nowMs() - startedAt < limitMs) setTimeout(() => submitter.submit(seq, onEnd), retryAfterMs);
        return;
      }
      answered++;
      // A message of the QStash-compatible API is answered 200.
      if (status === 201 || status === 200) {
        result.acceptedAt[index] = nowMs();
        result.accepted++;
      } else {
        failed++;
        result.failures[status] = (result.failures[status] ?? 0) + 1;
      }
      if (answered === job.count || failed > maxFailures) finish();
      else if (job.kind === "closed") submitNext();
    }

    // Open loop: one tick per millisecond sends whatever has become due, whether or not earlier tasks are answered.
    function tick(): void {
      while (next < job.count) {
        const lagMs = nowMs() - startedAt - (next * 1000) / job.rate;
        if (lagMs < 0) break;
        result.scheduleLagMs.push(lagMs);
        submitNext();
      }
      if (next < job.count) setTimeout(tick, 1);
    }

    if (job.kind === "open") tick();
    else for (let lane = 0; lane < job.connections; lane++) submitNext();
  });
}
