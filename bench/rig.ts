import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchScript, type RunningProcess, startProcess } from "./child-process.ts";
import type { LoadJob, LoadResult } from "./load-job.ts";
import { readUsage, type Usage } from "./process-usage.ts";
import type { RunningSubject, Subject } from "./subjects/subject.ts";

/** One start of everything: a subject on an empty data directory, with its own target and load generator. */
export interface Rig {
  subjectPid: number;
  /** Each connection submits its next task when the last is answered, until `count` are through. */
  runClosed(count: number, connections: number): Promise<Measurement>;
  /** Submits at a fixed rate, whatever the answers. */
  runOpen(count: number, rate: number): Promise<Measurement>;
  stop(): Promise<void>;
}

export interface Measurement {
  load: LoadResult;
  /** CPU spent per task while measuring, in microseconds, by whom. */
  cpuMicrosPerTask: { subject: number; postgres: number; load: number; target: number };
}

// Seven digits that occur nowhere else in a body, to find the places where the sequence number goes.
const seqMark = 7_403_951;
// Open loop: enough that a request hardly ever waits for a connection.
const openConnections = 256;

export async function createRig(subject: Subject, concurrency: number): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), "bellhop-bench-"));
  const processes: { stop(): Promise<void> }[] = [];
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
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
    const script = async (name: string, ipc: boolean): Promise<RunningProcess> => {
      const logFile = join(directory, `${name}.log`);
      const started = await startProcess({ name, args: benchScript(`${name}.ts`), logFile, ipc });
      processes.push(started);
      return started;
    };
    const target = await script("target", false);
    const load = await script("load", true);
    const running = await subject.start({ dataDir, logFile: join(directory, "subject.log"), concurrency });
    processes.push(running);
    return { ...createRuns(running, target, load), subjectPid: running.pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createRuns(
  subject: RunningSubject,
  target: RunningProcess,
  load: RunningProcess,
): Pick<Rig, "runClosed" | "runOpen"> {
  const bodyPieces = subject.bodyFor(seqMark, `${target.readyAt}/call`).split(String(seqMark));
  let nextSeq = 0;

  async function run(kind: LoadJob["kind"], count: number, connections: number, rate: number) {
    const before = readAll();
    const from = nextSeq;
    nextSeq += count;
    const { submitUrl, headers } = subject;
    const job: LoadJob = {
      kind,
      submitUrl,
      headers,
      bodyPieces,
      targetUrl: target.readyAt,
      from,
      count,
      connections,
      rate,
    };
    const result = await exchange(load, job);
    const after = readAll();
    const micros = (who: keyof typeof before, what: "cpuSeconds" | "childrenCpuSeconds") =>
      ((after[who][what] - before[who][what]) * 1e6) / count;
    return {
      load: result,
      cpuMicrosPerTask: {
        subject: micros("subject", "cpuSeconds"),
        postgres: micros("subject", "childrenCpuSeconds"),
        load: micros("load", "cpuSeconds"),
        target: micros("target", "cpuSeconds"),
      },
    };
  }

  function readAll(): Record<"subject" | "load" | "target", Usage> {
    return { subject: readUsage(subject.pid), load: readUsage(load.pid), target: readUsage(target.pid) };
  }

  return {
    runClosed: (count, connections) => run("closed", count, connections, 0),
    runOpen: (count, rate) => run("open", count, openConnections, rate),
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
    child.send(job);
  });
}
