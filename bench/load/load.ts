/** The load generator, in its own process: one job per message, one result back. */

import { quantile, steadyRate } from "../statistics.ts";
import type { LoadJob, LoadResult, Quantiles } from "./load-job.ts";
import { submitAll } from "./submissions.ts";
import { createSubmitter } from "./submitter.ts";
import { createTargetClient } from "./target-client.ts";

// Long enough for a lease to run out and the task to come again, short enough not to wait for nothing.
const stallMs = 45_000;
// The slowest peer worth measuring makes a few hundred calls a second.
const slowestTasksPerSecond = 100;

function quantilesOf(values: ArrayLike<number>): Quantiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

async function measure(job: LoadJob): Promise<LoadResult> {
  const limitMs = 60_000 + (job.count / slowestTasksPerSecond) * 1000;
  const target = createTargetClient(job.targetUrl);
  await target.reset(job.from, job.count, job.failEvery);
  const submitter = createSubmitter(job);
  const { submittedAt, acceptedAt, accepted, refused, failures, scheduleLagMs } = await submitAll(
    job,
    submitter,
    limitMs,
  );
  const stats = await target.wait(stallMs, limitMs);
  const arrivals = await target.arrivals();
  submitter.stop();

  const acceptMs: number[] = [];
  const acceptToCallMs: number[] = [];
  const submitToCallMs: number[] = [];
  let lost = 0;
  let lastAcceptAt = 0;
  for (let index = 0; index < job.count; index++) {
    const submitted = submittedAt[index] ?? 0;
    const answered = acceptedAt[index] ?? 0;
    const arrived = arrivals[index] ?? 0;
    if (answered === 0) continue;
    lastAcceptAt = Math.max(lastAcceptAt, answered);
    acceptMs.push(answered - submitted);
    if (arrived === 0) {
      lost++;
      continue;
    }
    // A call may reach the target before the answer has reached us: that is no wait at all.
    acceptToCallMs.push(Math.max(0, arrived - answered));
    submitToCallMs.push(arrived - submitted);
  }
  return {
    accepted,
    refused,
    failures,
    received: stats.received,
    repeated: stats.repeated,
    strays: stats.strays,
    lost,
    tasksPerSecond: (stats.received * 1000) / (stats.lastAt - (submittedAt[0] ?? 0)),
    steadyTasksPerSecond: steadyRate(arrivals),
    drainMs: Math.max(0, stats.lastAt - lastAcceptAt),
    acceptMs: quantilesOf(acceptMs),
    acceptToCallMs: quantilesOf(acceptToCallMs),
    submitToCallMs: quantilesOf(submitToCallMs),
    scheduleLagMs: quantilesOf(scheduleLagMs),
  };
}

process.on("message", (job: LoadJob) => {
  measure(job).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit(0));
console.log("Load is ready at ipc");
