import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type Identity, spawnIdentity } from "./identity.ts";

/** The exit of a child; `lastLines` are its last output, for the error message. */
export type Exit = { code: number | null; signal: string | null; lastLines: string[] };

export type ChildRun = { child: ChildProcess; exited: Promise<Exit> };

const KEPT_LINES = 10;
const LAST_WORDS_MS = 1000;

/**
 * Runs a PostgreSQL binary. It leads its own session, so Ctrl-C in a terminal reaches only Bellhop, which drains before
 * it stops the database. It gets none of our environment, which contains keys and addresses.
 */
export function runBinary(
  file: string,
  args: string[],
  identity: Identity,
  onLine: (line: string) => void,
): ChildRun {
  const env = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" };
  const child = spawnExplained(file, args, {
    ...spawnIdentity(identity),
    cwd: "/",
    detached: true,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });

  const lastLines: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lastLines.push(line);
      if (lastLines.length > KEPT_LINES) lastLines.shift();
      onLine(line);
    });
  }
  const exited = new Promise<Exit>((resolve) => {
    child.on("error", (error) => {
      resolve({ code: null, signal: null, lastLines: [explain(file, error).message] });
    });
    // The pipe closes when the last backend of a killed postmaster has exited. PostgreSQL refuses a new postmaster
    // until then, so this waits, but not long: a stuck backend must not delay the report.
    child.on("close", (code, signal) => resolve({ code, signal, lastLines }));
    child.on("exit", (code, signal) => {
      setTimeout(() => resolve({ code, signal, lastLines }), LAST_WORDS_MS).unref();
    });
  });
  return { child, exited };
}

/** Node throws some failures of a spawn and emits others. */
function spawnExplained(file: string, args: string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(file, args, options);
  } catch (error) {
    throw explain(file, error);
  }
}

function explain(file: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `${file} could not be run (${reason}). The embedded PostgreSQL needs glibc (not Alpine's musl), ` +
      "a data directory that is not mounted noexec, and, as root, the right to switch to another user. " +
      "Set DATABASE_URL to use your own PostgreSQL instead.",
    { cause },
  );
}
