import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchScript, type RunningProcess, startProcess } from "../tools/child-process.ts";
import { readUsage } from "../tools/process-usage.ts";
import type { LoadJob, LoadResult } from "./load/load-job.ts";
import { createTargetClient, type TargetClient } from "./load/target-client.ts";
import { type PostgresFigures, type PostgresWatch, watchPostgres } from "./postgres-figures.ts";
import { type ProbeCounts, probe } from "./probe-client.ts";
import type { RunningSubject } from "./subjects/subject.ts";

export interface RunOptions {
  /** Further variants of the body, which take turns with it. */
  bodies?: (seq: number, targetUrl: string) => string[];
  failEvery?: number;
  /** Each task comes with an Idempotency-Key of its own. */
  keyed?: boolean;
}

/** One start of everything: a subject on an empty data directory, with its own target and load generator. */
export interface Rig<Running extends RunningSubject = RunningSubject> {
  subject: Running;
  target: TargetClient;
  targetUrl: string;
  /** Each connection submits its next task when the last is answered, until `count` are through. */
  runClosed(count: number, connections: number, options?: RunOptions): Promise<Measurement>;
  /** Submits at a fixed rate, whatever the answers. */
  runOpen(count: number, rate: number, options?: RunOptions): Promise<Measurement>;
  /** Counts in two runs of so many tasks what each makes; null where the subject has no probe. */
  countWork(count: number, connections: number): Promise<ProbeCounts | null>;
  /** The first of `count` sequence numbers that no run uses. */
  reserve(count: number): number;
  readUsage(): SubjectUsage;
  /** One more process of `load/`, which ends with the rig. */
  startScript(name: "target" | "load" | "readers", env?: Record<string, string>): Promise<RunningProcess>;
  stop(): Promise<void>;
}

export interface SubjectUsage {
  mainSeconds: number;
  helperSeconds: number;
  /** Of PostgreSQL or Redis. */
  databaseSeconds: number;
  rssMb: number;
}

export interface Measurement {
  load: LoadResult;
  /** CPU spent per task while measuring, in microseconds, by whom. */
  cpuMicros: { main: number; helpers: number; database: number; load: number; target: number };
  /** Null where tasks are not in a PostgreSQL that can be asked. */
  postgres: PostgresFigures | null;
}

// Seven digits that occur nowhere else in a body, to find the places where the sequence number goes.
const seqMark = 7_403_951;
// Open loop: enough that a request hardly ever waits for a connection.
const openConnections = 256;

export async function createRig<Running extends RunningSubject>(
  start: (place: { dataDir: string; logFile: string; targetUrl: string }) => Promise<Running>,
): Promise<Rig<Running>> {
  const directory = mkdtempSync(join(tmpdir(), "bellhop-bench-"));
  const processes: { stop(): Promise<void> }[] = [];
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  // After Ctrl-C nobody calls stop.
  process.once("exit", removeDirectory);
  async function stop(): Promise<void> {
    for (const started of processes.splice(0).reverse()) await started.stop();
    removeDirectory();
    process.off("exit", removeDirectory);
  }
  try {
    // As root, PostgreSQL runs under another user, which has to be able to enter.
    chmodSync(directory, 0o755);
    const dataDir = join(directory, "data");
    mkdirSync(dataDir);
    const startScript: Rig["startScript"] = async (name, env = {}) => {
      const logFile = join(directory, `${name}.log`);
      const args = benchScript(`load/${name}`);
      const started = await startProcess({ name, args, env, logFile, ipc: name !== "target" });
      processes.push(started);
      return started;
    };
    const target = await startScript("target");
    const load = await startScript("load");
    const targetUrl = `${target.readyAt}/call`;
    const subject = await start({ dataDir, logFile: join(directory, "subject.log"), targetUrl });
    processes.push(subject);
    const watch = await watchSubject(subject);
    if (watch !== null) processes.push(watch);
    return {
      subject,
      target: createTargetClient(target.readyAt),
      targetUrl,
      ...createRuns(subject, target, load, watch),
      startScript,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function watchSubject({ database, databasePid, pids }: RunningSubject): Promise<PostgresWatch | null> {
  if (database === undefined) return Promise.resolve(null);
  return watchPostgres(database, databasePid === undefined ? pids : [databasePid]);
}

function createRuns(
  subject: RunningSubject,
  target: RunningProcess,
  load: RunningProcess,
  watch: PostgresWatch | null,
): Pick<Rig, "runClosed" | "runOpen" | "countWork" | "reserve" | "readUsage"> {
  const callUrl = `${target.readyAt}/call`;
  let nextSeq = 0;

  function reserve(count: number): number {
    const from = nextSeq;
    nextSeq += count;
    return from;
  }

  async function run(
    asked: Pick<LoadJob, "kind" | "count" | "connections" | "rate">,
    { bodies = (seq, url) => [subject.bodyFor(seq, url)], failEvery = 0, keyed = false }: RunOptions = {},
  ): Promise<Measurement> {
    const { count } = asked;
    const job: LoadJob = {
      ...asked,
      submitUrls: subject.submitUrls,
      headers: subject.headers,
      keyed,
      bodies: bodies(seqMark, callUrl).map((body) => body.split(String(seqMark))),
      targetUrl: target.readyAt,
      from: reserve(count),
      failEvery,
    };
    const spend = async () => {
      const before = readSpent();
      const result = await exchange(load, job);
      return { before, result, after: readSpent() };
    };
    const [{ before, result, after }, postgres] =
      watch === null ? ([await spend(), null] as const) : await watch.during(count, spend);
    const micros = (who: keyof typeof before) => ((after[who] - before[who]) * 1e6) / count;
    return {
      load: result,
      cpuMicros: {
        main: micros("main"),
        helpers: micros("helpers"),
        database: micros("database"),
        load: micros("load"),
        target: micros("target"),
      },
      postgres,
    };
  }

  function readSpent() {
    const { mainSeconds, helperSeconds, databaseSeconds } = readSubjectUsage(subject);
    return {
      main: mainSeconds,
      helpers: helperSeconds,
      database: databaseSeconds,
      load: readUsage(load.pid).cpuSeconds,
      target: readUsage(target.pid).cpuSeconds,
    };
  }

  const runClosed: Rig["runClosed"] = (count, connections, options) =>
    run({ kind: "closed", count, connections, rate: 0 }, options);

  return {
    runClosed,
    async countWork(count, connections) {
      if (subject.probed === undefined) return null;
      return probe(subject.probed, count, () => runClosed(count, connections));
    },
    runOpen: (count, rate, options) =>
      run({ kind: "open", count, connections: openConnections, rate }, options),
    reserve,
    readUsage: () => readSubjectUsage(subject),
  };
}

function readSubjectUsage({ pids, databasePid }: RunningSubject): SubjectUsage {
  const usages = pids.map(readUsage);
  const sum = (read: (usage: (typeof usages)[number]) => number) =>
    usages.reduce((total, usage) => total + read(usage), 0);
  return {
    mainSeconds: sum((usage) => usage.mainThreadCpuSeconds),
    helperSeconds: sum((usage) => usage.cpuSeconds - usage.mainThreadCpuSeconds),
    databaseSeconds:
      sum((usage) => usage.childrenCpuSeconds) +
      (databasePid === undefined ? 0 : readUsage(databasePid).childrenCpuSeconds),
    rssMb: sum((usage) => usage.rssMb),
  };
}

/** The load generator limits its own time, so this only has to notice its death. */
function exchange({ child }: RunningProcess, job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error("the load generator ended during a measurement"));
    child.once("exit", onExit);
    child.once("message", (result) => {
      child.off("exit", onExit);
      resolve(result as LoadResult);
    });
    // Without this a generator that has just ended would end the bench as well.
    child.send(job, (error) => error && reject(error));
  });
}
