/** Reads CPU and memory of processes from /proc, so the bench needs Linux for these columns and says NaN elsewhere. */
import { readdirSync, readFileSync } from "node:fs";

// USER_HZ, which is 100 on every Linux that Node runs on.
const ticksPerSecond = 100;

interface ProcessStat {
  pid: number;
  parent: number;
  cpuSeconds: number;
  endedChildrenCpuSeconds: number;
  startTime: string;
  /** Ended, and waiting for its parent to notice. */
  ended: boolean;
}

/** Of a process and all that it has started, those that have ended included. */
export function treeCpuSeconds(pid: number): number {
  return [readStat(pid), ...listDescendants(pid)].reduce(
    (sum, stat) => sum + (stat?.cpuSeconds ?? 0) + (stat?.endedChildrenCpuSeconds ?? 0),
    0,
  );
}

/** What all processors together have worked since the machine started, for whomever, and what a hypervisor took of them. */
export function machineCpuSeconds(): number {
  const [user, nice, system, , , irq, softirq, steal] =
    readFileSync("/proc/stat", "latin1").split("\n", 1)[0]?.split(/\s+/).slice(1).map(Number) ?? [];
  const busy = [user, nice, system, irq, softirq, steal].map((ticks) => ticks ?? 0);
  return busy.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
}

function readStat(pid: number, file = `/proc/${pid}/stat`): ProcessStat | undefined {
  try {
    const text = readFileSync(file, "latin1");
    // The name stands in parentheses and may itself hold spaces and parentheses.
    const end = text.lastIndexOf(")");
    const fields = text.slice(end + 2).split(" ");
    const seconds = (field: number) => Number(fields[field]) / ticksPerSecond;
    return {
      pid,
      parent: Number(fields[1]),
      cpuSeconds: seconds(11) + seconds(12),
      endedChildrenCpuSeconds: seconds(13) + seconds(14),
      startTime: fields[19] ?? "",
      ended: fields[0] === "Z",
    };
  } catch {
    return undefined;
  }
}

/** How the process calls itself: PostgreSQL says there what each of its processes is for. */
export function readTitle(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** Every process below `pid`, children before grandchildren. */
export function listDescendants(pid: number): ProcessStat[] {
  let names: string[] = [];
  try {
    names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  const all = names.flatMap((name) => readStat(Number(name)) ?? []);
  const found: ProcessStat[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = all.filter((stat) => parents.has(stat.parent));
    found.push(...children);
    parents = new Set(children.map((stat) => stat.pid));
  }
  return found;
}

/** Whether that very process still runs, not another that was given its number. */
export function isRunning(stat: ProcessStat): boolean {
  const current = readStat(stat.pid);
  return current?.startTime === stat.startTime && !current.ended;
}

export interface Usage {
  /** Of the process itself. */
  cpuSeconds: number;
  /** Of its main thread, where JavaScript runs: the others compile, collect garbage and read files. */
  mainThreadCpuSeconds: number;
  /** Of everything it started: the embedded PostgreSQL. */
  childrenCpuSeconds: number;
  rssMb: number;
  peakRssMb: number;
}

export function readUsage(pid: number): Usage {
  let status = "";
  try {
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    // No /proc, or the process has ended: the figures below become NaN.
  }
  const megabytes = (key: string) => Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return {
    cpuSeconds: readStat(pid)?.cpuSeconds ?? Number.NaN,
    mainThreadCpuSeconds: readStat(pid, `/proc/${pid}/task/${pid}/stat`)?.cpuSeconds ?? Number.NaN,
    // With those that ended: PostgreSQL backends come and go.
    childrenCpuSeconds: listDescendants(pid).reduce(
      (sum, stat) => sum + stat.cpuSeconds + stat.endedChildrenCpuSeconds,
      readStat(pid)?.endedChildrenCpuSeconds ?? 0,
    ),
    rssMb: megabytes("VmRSS"),
    peakRssMb: megabytes("VmHWM"),
  };
}
