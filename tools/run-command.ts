import { spawn } from "node:child_process";

/** What a command that is told to stop may take to do so. */
const STOP_MS = 20_000;

export interface Ran {
  /** Null where it was ended before its end. */
  readonly code: number | null;
  readonly output: string;
  readonly isLate: boolean;
}

/** Runs a command until it ends, is late, or has printed what `isEnough` waits for; then it is told to stop. */
export function runCommand(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly seconds: number;
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly isEnough?: (line: string) => boolean;
}): Promise<Ran> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  let isLate = false;
  let kill: NodeJS.Timeout | undefined;
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // It has ended.
    }
  };
  const killAtExit = () => signal("SIGKILL");
  process.once("exit", killAtExit);
  function stop(): void {
    if (kill !== undefined) return;
    child.kill("SIGTERM");
    kill = setTimeout(() => signal("SIGKILL"), STOP_MS);
  }
  const late = setTimeout(() => {
    isLate = true;
    stop();
  }, options.seconds * 1000);
  let rest = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      if (options.isEnough !== undefined && lines.some(options.isEnough)) stop();
    });
  }
  return new Promise((resolve) => {
    child.once("close", (code) => {
      clearTimeout(late);
      clearTimeout(kill);
      // What it started may have outlived it.
      signal("SIGKILL");
      process.removeListener("exit", killAtExit);
      resolve({ code: kill === undefined ? code : null, output, isLate });
    });
  });
}
