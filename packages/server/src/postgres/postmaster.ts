import { execFile } from "node:child_process";
import { readFile, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** The content of postmaster.pid. It outlives its process, so it must be verified. */
export type PostmasterPid = { pid: number; port: number; socketDir: string };

export async function readPostmasterPid(pgdata: string): Promise<PostmasterPid | null> {
  const text = await readFile(join(pgdata, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, , , port, socketDir] = text.split("\n");
  // A single-user server writes its pid as a negative number.
  if (pid === undefined || !/^-?\d+$/.test(pid)) return null;
  return { pid: Math.abs(Number(pid)), port: Number(port ?? 0), socketDir: socketDir ?? "" };
}

/**
 * Whether this pid is a live postmaster of this cluster. PostgreSQL only checks whether the pid exists, and so refuses
 * to start if it was reused by a process of the same user or is a zombie. A postmaster's working directory is its
 * cluster: we check that instead.
 */
export async function isPostmasterOf(pid: number, pgdata: string): Promise<boolean> {
  if (process.platform === "linux") {
    const workingDir = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    return workingDir !== null && workingDir === (await realpath(pgdata));
  }
  const ps = promisify(execFile)("ps", ["-o", "command=", "-p", String(pid)]);
  const command = await ps.then(({ stdout }) => stdout).catch(() => "");
  return command.includes(pgdata);
}

/**
 * Removes a postmaster.pid without a live postmaster. If one is alive after all, PostgreSQL still refuses: it finds the
 * shared memory by the cluster's inode, not by this file.
 */
export async function clearPostmasterPid(pgdata: string): Promise<void> {
  const left = await readPostmasterPid(pgdata);
  if (left !== null && (await isPostmasterOf(left.pid, pgdata))) return;
  await rm(join(pgdata, "postmaster.pid"), { force: true });
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT the immediate one: safe, but the next start must replay the WAL. */
const STEPS = [
  { signal: "SIGINT", patienceMs: 10_000 },
  { signal: "SIGQUIT", patienceMs: 10_000 },
  { signal: "SIGKILL", patienceMs: 10_000 },
] as const;

/** Stops a postmaster, our child or not. Returns the effective signal. */
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
    // It exited meanwhile; its state is checked next.
  }
}
