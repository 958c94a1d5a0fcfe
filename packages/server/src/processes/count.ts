import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";

/** What there is to share, as far as this server may use it. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * At full load a process keeps its main thread busy, a quarter of another core with its helpers, and PostgreSQL with half
 * of one: fewer than two cores for each, and its processes would take the database's time.
 */
const CORES_EACH = 2;
/** 200 MB at rest, and the answers to its share of the calls in flight. */
const MEMORY_EACH_BYTES = 2 ** 30;
/** All of them write into one log of one PostgreSQL, and each keeps 21 connections to it. */
const MOST_UNASKED = 8;

/**
 * How many processes a server has unless it is told. With a PostgreSQL of the operator's own, one: its connections are
 * counted out among nodes and other programs, and an update must not take some times as many.
 */
export function processesFor({ cores, memoryBytes }: Machine, isEmbedded: boolean): number {
  if (!isEmbedded) return 1;
  const most = Math.min(Math.floor(cores / CORES_EACH), Math.floor(memoryBytes / MEMORY_EACH_BYTES));
  return Math.max(1, Math.min(most, MOST_UNASKED));
}

export function readMachine(): Machine {
  // Of a container; 0, or more than there is, where it has no bound.
  const bound = process.constrainedMemory();
  const memoryBytes = bound > 0 ? Math.min(bound, totalmem()) : totalmem();
  return {
    cores: Math.min(availableParallelism(), coresAllowed("/proc/self/cgroup", "/sys/fs/cgroup")),
    memoryBytes,
  };
}

/**
 * The processor time that a container or a unit is allowed, in cores: the tightest bound of the group and those around it.
 * Node 20 looks at the processors alone, and would take a container with one for the whole machine.
 */
export function coresAllowed(groupFile: string, groups: string): number {
  const path = /^0::(\/.*)$/m.exec(readIfThere(groupFile))?.[1] ?? "/";
  let allowed = Number.POSITIVE_INFINITY;
  for (let group = path; ; group = dirname(group)) {
    // "150000 100000": so many of so many microseconds; "max 100000": no bound.
    const [quota = Number.NaN, period = Number.NaN] = readIfThere(join(groups, group, "cpu.max"))
      .split(" ")
      .map(Number);
    if (quota > 0 && period > 0) allowed = Math.min(allowed, quota / period);
    if (group === "/") return allowed;
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
