import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Agent, request } from "undici";
import { SERVER } from "../places.ts";

const MAIN = join(SERVER, "dist/main.js");
export const API_KEY = `bh_live_${"k".repeat(40)}`;

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Everything printed for people so far. */
  readonly stdout: string;
  readonly stderr: string;
  api(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Json; retryAfter: unknown }>;
  /** The task's record once it has ended. */
  ended(id: string): Promise<Json>;
  signal(name: NodeJS.Signals): void;
  /** The exit code; null after a kill. */
  readonly exited: Promise<number | null>;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each asserted on by the test that asked
export type Json = any;

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly detached?: boolean;
}

/** The built server as a process of its own, as an operator would run it. */
export function launch(
  environment: Record<string, string>,
  cwd = process.cwd(),
  { file, args, detached = false }: Command = { file: process.execPath, args: [MAIN] },
): ServerProcess {
  const child = spawn(file, args, {
    cwd,
    detached,
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      LOG_LEVEL: "info",
      BELLHOP_API_KEY: API_KEY,
      // The same on every machine.
      BELLHOP_PROCESSES: "1",
      ...environment,
    },
  });
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].on("data", (chunk: Buffer) => {
      printed[stream] += chunk.toString();
    });
  }
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const agent = new Agent();
  exited.finally(() => agent.destroy());

  const server: ServerProcess = {
    child,
    exited,
    get url() {
      return /Bellhop is ready at (\S+)/.exec(printed.stdout)?.[1] ?? "";
    },
    get stdout() {
      return printed.stdout;
    },
    get stderr() {
      return printed.stderr;
    },
    async api(method, path, body) {
      const answer = await request(`${server.url}${path}`, {
        dispatcher: agent,
        method: method as "GET",
        headers: {
          authorization: `Bearer ${API_KEY}`,
          ...(body ? { "content-type": "application/json" } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const json = await answer.body.json();
      return { status: answer.statusCode, json, retryAfter: answer.headers["retry-after"] };
    },
    async ended(id) {
      for (;;) {
        const { json } = await server.api("GET", `/v1/tasks/${id}`);
        if (json.completed_at !== undefined) return json;
        await nextTurn();
      }
    },
    signal: (name) => child.kill(name),
  };
  return server;
}

/** Started and ready to serve. */
export async function startServer(environment: Record<string, string>): Promise<ServerProcess> {
  return ready(launch(environment));
}

export async function ready(server: ServerProcess): Promise<ServerProcess> {
  await until(() => server.url !== "" || server.child.exitCode !== null);
  if (server.url === "") throw new Error(`The server did not start: ${server.stderr}`);
  return server;
}

/** Asks again until it holds; the runner's own time limit ends what never does. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await nextTurn();
}

/** Other processes must get the processor in between. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
