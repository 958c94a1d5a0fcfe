import { Worker } from "node:worker_threads";
import { FairQueue } from "../domain/fair-queue.ts";
import type { Time } from "../domain/time.ts";
import type { Answer, Answers, Job } from "./job.ts";

/** Why a job has no answer. */
export type JobFailure = "time" | "memory" | "crowded" | "stopped";

export interface JsonPool {
  /** Never rejects. The threads serve the teams in turn. With `isBounded`, a team with too much waiting gets `crowded`. */
  run<J extends Job>(teamId: number, job: J, isBounded: boolean): Promise<Answer<J["kind"]> | JobFailure>;
  readonly waiting: number;
  stop(): Promise<void>;
}

export interface PoolOptions {
  /** Called with the result of each job. */
  readonly onJob?: (result: "done" | JobFailure) => void;
  readonly threads?: number;
  readonly jobMs?: number;
  readonly memoryMb?: number;
  /** Characters that one team may have waiting. */
  readonly mostWaiting?: number;
  readonly script?: URL;
  readonly setTimer?: Time["setTimer"];
}

/** Two, so that one job at its limit does not block all others. */
const THREADS = 2;
/**
 * Wall-clock time, because a thread has a lower priority than the event loop and other work. A text of 16 MiB takes a
 * quarter of a second of a core.
 */
const JOB_MS = 15_000;
/** For two copies of the text at two bytes per character: nothing is built from it. */
const MEMORY_MB = 128;
/** Three batches of the largest size. */
const MOST_WAITING = 32 * 1_048_576;

const SCRIPT = new URL("json-thread.js", import.meta.url);

interface Waiting {
  readonly job: Job;
  readonly resolve: (answer: Answers[Job["kind"]] | JobFailure) => void;
}

interface Thread {
  readonly worker: Worker;
  isOnline: boolean;
  busy: { readonly waiting: Waiting; timer: ReturnType<Time["setTimer"]> | null } | null;
}

/** Threads that parse large untrusted JSON. They start with the first job, and a failed one is replaced by the next. */
export function createJsonPool({
  onJob = () => {},
  threads: mostThreads = THREADS,
  jobMs = JOB_MS,
  memoryMb = MEMORY_MB,
  mostWaiting = MOST_WAITING,
  script = SCRIPT,
  setTimer = startTimer,
}: PoolOptions = {}): JsonPool {
  const threads = new Set<Thread>();
  const queue = new FairQueue<Waiting>();
  const charactersOf = new Map<number, number>();
  let isStopped = false;

  function start(): Thread {
    const worker = new Worker(script, {
      name: "json",
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 8 },
    });
    const thread: Thread = { worker, isOnline: false, busy: null };
    worker.unref();
    worker.on("online", () => {
      thread.isOnline = true;
      watch(thread);
    });
    worker.on("message", (answer: Answers[Job["kind"]]) => settle(thread, answer));
    // A job that runs out of memory ends its thread with an error; the process continues.
    worker.on("error", () => fail(thread, "memory"));
    worker.on("exit", () => fail(thread, "memory"));
    threads.add(thread);
    return thread;
  }

  /** The start of a thread does not count as time of its first job. */
  function watch(thread: Thread): void {
    if (thread.isOnline && thread.busy !== null)
      thread.busy.timer = setTimer(() => fail(thread, "time"), jobMs);
  }

  function settle(thread: Thread, answer: Answers[Job["kind"]] | JobFailure): void {
    const { busy } = thread;
    if (busy === null) return;
    thread.busy = null;
    busy.timer?.cancel();
    thread.worker.unref();
    onJob(typeof answer === "string" ? answer : "done");
    busy.waiting.resolve(answer);
    next();
  }

  function fail(thread: Thread, why: JobFailure): void {
    threads.delete(thread);
    void thread.worker.terminate();
    settle(thread, why);
  }

  function next(): void {
    while (queue.size > 0 && !isStopped) {
      const idle = [...threads].find(({ busy }) => busy === null);
      if (idle === undefined && threads.size >= mostThreads) return;
      const taken = queue.take();
      if (taken === null) return;
      const { teamId, item } = taken;
      note(teamId, -item.job.text.length);
      const thread = idle ?? start();
      thread.busy = { waiting: item, timer: null };
      watch(thread);
      // A process that waits for an answer must not exit.
      thread.worker.ref();
      thread.worker.postMessage(item.job);
    }
  }

  function note(teamId: number, characters: number): number {
    const sum = (charactersOf.get(teamId) ?? 0) + characters;
    if (sum > 0) charactersOf.set(teamId, sum);
    else charactersOf.delete(teamId);
    return sum;
  }

  return {
    get waiting() {
      return queue.size;
    },
    run<J extends Job>(teamId: number, job: J, isBounded: boolean) {
      return new Promise<Answer<J["kind"]> | JobFailure>((resolve) => {
        const isCrowded = isBounded && (charactersOf.get(teamId) ?? 0) + job.text.length > mostWaiting;
        if (isStopped || isCrowded) {
          onJob(isStopped ? "stopped" : "crowded");
          resolve(isStopped ? "stopped" : "crowded");
          return;
        }
        note(teamId, job.text.length);
        // The thread answers each job by its own kind.
        const settled: Waiting["resolve"] = (answer) => resolve(answer as Answer<J["kind"]> | JobFailure);
        queue.add(teamId, { job, resolve: settled });
        next();
      });
    },
    async stop() {
      isStopped = true;
      for (let taken = queue.take(); taken !== null; taken = queue.take()) taken.item.resolve("stopped");
      const all = [...threads];
      for (const thread of all) fail(thread, "stopped");
      await Promise.all(all.map(({ worker }) => worker.terminate()));
    },
  };
}

function startTimer(callback: () => void, ms: number): { cancel(): void } {
  const timer = setTimeout(callback, ms);
  return { cancel: () => clearTimeout(timer) };
}
