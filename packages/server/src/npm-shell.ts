import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const LOOK_MS = 500;

/** One `&` that is not part of `&&`, `>&` or `&>` sends a command into the background; the words do the same in their own way. */
const IN_BACKGROUND = /(?<![&>])&(?![&>])|\b(nohup|setsid|disown)\b/;

/**
 * Calls `work` once when the shell is gone by which npm runs this process. `npx bellhop start` passes SIGTERM on to its
 * `sh -c "bellhop start"`, which dies of it and tells nobody: the server would run on without a parent.
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

/** npm, npx, pnpm and yarn set one of these or another. What others start, on purpose without a parent perhaps, has none. */
export function isStartedByNpm(environment: NodeJS.ProcessEnv): boolean {
  return ["npm_command", "npm_execpath", "npm_lifecycle_event"].some(
    (name) => environment[name] !== undefined,
  );
}

/** A shell that only waits for what it runs in the foreground ends before it only if it is killed. */
export function waitsForItsCommand(commandLine: string): boolean {
  const script = /^\S*sh -c (.+)$/s.exec(commandLine)?.[1];
  return script !== undefined && !IN_BACKGROUND.test(script);
}

/** Empty for a process that is gone. */
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
