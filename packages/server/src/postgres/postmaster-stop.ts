import { setTimeout as sleep } from "node:timers/promises";

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one: safe, but the next start must replay the log. */
const STEPS = [
  { signal: "SIGINT", patienceMs: 10_000 },
  { signal: "SIGQUIT", patienceMs: 10_000 },
  { signal: "SIGKILL", patienceMs: 10_000 },
] as const;

/** Stops a postmaster, our child or not. Returns the signal that did it. */
export async function stopPostmaster(pid: number, isAlive: () => Promise<boolean>): Promise<string> {
  for (const { signal, patienceMs } of STEPS) {
    send(pid, signal);
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      if (!(await isAlive())) return signal;
      await sleep(10);
    }
  }
  throw new Error(`The embedded PostgreSQL (pid ${pid}) does not end, not even by SIGKILL.`);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended on its own in the meantime; whether it is alive is asked next.
  }
}
