import { randomUUID } from "node:crypto";

export interface EchoAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A job that a caller started here, and its simulated course. */
export interface Job {
  polls: number;
  readonly doneAfter: number;
  readonly fails: boolean;
}

/** Simulates a third party with a job: start, poll, fetch. */
export function playProvider(
  style: "fal" | "jobs",
  id: string,
  url: URL,
  jobs: Map<string, Job>,
  address: string,
): EchoAnswer {
  if (id === "") return start(style, url, jobs, address);
  const job = jobs.get(id);
  if (job === undefined) return { status: 404, body: { detail: "No such job" } };
  if (url.pathname.endsWith("/response")) return result(job);
  job.polls += 1;
  const isDone = job.polls > job.doneAfter;
  if (style === "fal") return { status: 200, body: { status: isDone ? "COMPLETED" : "IN_PROGRESS" } };
  if (!isDone) return { status: 200, body: { id, status: "processing" } };
  return job.fails
    ? { status: 200, body: { id, status: "failed", error: "The job failed, as it was told to" } }
    : { status: 200, body: { id, status: "succeeded", output: { video: `${address}/videos/${id}.mp4` } } };
}

function start(style: "fal" | "jobs", url: URL, jobs: Map<string, Job>, address: string): EchoAnswer {
  const id = randomUUID();
  const doneAfter = Number(url.searchParams.get("polls") ?? 2);
  jobs.set(id, { polls: 0, doneAfter, fails: url.searchParams.get("end") === "fail" });
  if (style === "jobs") return { status: 201, body: { id, status: "queued" } };
  const job = `${address}/fal/${id}`;
  const body = {
    status: "IN_QUEUE",
    request_id: id,
    status_url: `${job}/status`,
    response_url: `${job}/response`,
  };
  return { status: 200, body };
}

/** fal has no failed status: its result endpoint reports the failure. */
function result(job: Job): EchoAnswer {
  return job.fails
    ? { status: 422, body: { detail: "The job failed, as it was told to" } }
    : { status: 200, body: { images: [{ url: "https://example.com/image.png" }], seed: 42 } };
}
