import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const LOOK_MS = 500;

/** A single `&` that is not part of `&&`, `>&` or `&>` runs a command in the background; so do these commands. */
const IN_BACKGROUND = /(?<![&>])&(?![&>])|\b(nohup|setsid|disown)\b/;

/**
 * Calls `work` once when the shell through which npm runs this process has exited. `npx bellhop start` sends SIGTERM to its
 * `sh -c "bellhop start"`, which exits without passing it on: the server would keep running without a parent.
 */
export async function onNpmShellGone(work: () => void): Promise<void> {
  const shell = process.ppid;
  if (!isStartedByNpm(process.env) || !waitsForItsCommand(await commandLineOf(shell))) return;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    work();
  }, LOOK_MS);
  timer.unref();
}

/** npm, npx, pnpm and yarn set at least one of these. Other launchers, which may detach on purpose, set none. */
export function isStartedByNpm(environment: NodeJS.ProcessEnv): boolean {
  return ["npm_command", "npm_execpath", "npm_lifecycle_event"].some(
    (name) => environment[name] !== undefined,
  );
}

/** A shell that only waits for its foreground command exits before it only if it is killed. */
export function waitsForItsCommand(commandLine: string): boolean {
  const script = /^\S*sh -c (.+)$/s.exec(commandLine)?.[1];
  return script !== undefined && !IN_BACKGROUND.test(script);
}

/** Empty for a process that has exited. */
async function commandLineOf(pid: number): Promise<string> {
  const text =
    process.platform === "linux"
      ? readFile(`/proc/${pid}/cmdline`, "utf8").then((words) => words.replaceAll("\0", " "))
      : promisify(execFile)("ps", ["-o", "args=", "-p", String(pid)]).then(({ stdout }) => stdout);
  return text.then(
    (line) => line.trim(),
    () => "",
  );
}
