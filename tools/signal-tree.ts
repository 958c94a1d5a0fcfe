import { listDescendants } from "./process-usage.ts";

/** Sends a signal to a process and to everything that it has started; to nobody where there is no process. */
export function signalTree(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  // The process itself first: once it is frozen, it starts no further process.
  for (const each of [pid, ...listDescendants(pid).map((child) => child.pid)]) {
    try {
      process.kill(each, signal);
    } catch {
      // It ended on its own.
    }
  }
}
