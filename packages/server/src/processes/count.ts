import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";

/** The resources that this server may use. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * At full load a process uses its main thread, a quarter of another core for its helpers, and half a core of
 * PostgreSQL: with less than two cores each, the processes would starve the database.
 */
const CORES_EACH = 2;
/** 200 MB when idle, plus the answers to its share of the calls in flight. */
const MEMORY_EACH_BYTES = 2 ** 30;
/** All processes write to one WAL of one PostgreSQL, and each keeps 22 connections. */
const MOST_UNASKED = 8;

/**
 * The default number of processes. With the operator's own PostgreSQL it is one: its connections are budgeted among
 * nodes and other programs, and an update must not multiply them.
 */
export function processesFor({ cores, memoryBytes }: Machine, isEmbedded: boolean): number {
  if (!isEmbedded) return 1;
  const most = Math.min(Math.floor(cores / CORES_EACH), Math.floor(memoryBytes / MEMORY_EACH_BYTES));
  return Math.max(1, Math.min(most, MOST_UNASKED));
}

export function readMachine(): Machine {
  // The container's limit; 0, or more than the machine has, if there is none.
  const bound = process.constrainedMemory();
  const memoryBytes = bound > 0 ? Math.min(bound, totalmem()) : totalmem();
  return {
    cores: Math.min(availableParallelism(), coresAllowed("/proc/self/cgroup", "/sys/fs/cgroup")),
    memoryBytes,
  };
}

/**
 * The CPU limit of a container or a unit in cores: the tightest limit of the cgroup and its parents. Node 20 only
 * counts processors, and would see the whole machine.
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
