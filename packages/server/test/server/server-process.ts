import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { inTime, until as patientlyUntil } from "../patience.ts";
import { MAIN } from "../places.ts";

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
    headers?: Record<string, string>,
  ): Promise<{ status: number; json: Json; retryAfter: unknown }>;
  /** The answer to the creation of a task, which is repeated while a busy machine makes the server answer 503. */
  create(task: object, headers?: Record<string, string>): Promise<Json>;
  /** The lines logged so far that tell of this event. */
  logged(event: string): Json[];
  /** The task's record once it has ended. */
  ended(id: string): Promise<Json>;
  signal(name: NodeJS.Signals): void;
  /** The exit code; null after a kill. It fails where the process outlives a signal by far. */
  readonly exited: Promise<number | null>;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each asserted on by the test that asked
export type Json = any;

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly detached?: boolean;
}

/** For the report of a wait that failed. */
const launched: ServerProcess[] = [];
const ENDING: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGKILL"];

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
  const closed = new Promise((resolve) => child.once("close", resolve));
  const exit = once(child, "exit").then(async ([code]) => {
    // What it printed last may still be under way. A process that it left behind keeps the pipes open.
    await Promise.race([closed, sleep(1_000, null, { ref: false })]);
    return code as number | null;
  });
  let outlives = (_error: unknown) => {};
  const exited = new Promise<number | null>((resolve, reject) => {
    exit.then(resolve, reject);
    outlives = reject;
  });
  const agent = new Agent();
  exit.finally(() => agent.destroy());

  const server: ServerProcess = {
    child,
    exited,
    get url() {
      return /Bellhop is ready at (\S+)\s/.exec(printed.stdout)?.[1] ?? "";
    },
    get stdout() {
      return printed.stdout;
    },
    get stderr() {
      return printed.stderr;
    },
    async api(method, path, body, headers) {
      const answer = await request(`${server.url}${path}`, {
        dispatcher: agent,
        method: method as "GET",
        headers: {
          authorization: `Bearer ${API_KEY}`,
          ...(body ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const json = await answer.body.json();
      return { status: answer.statusCode, json, retryAfter: answer.headers["retry-after"] };
    },
    async create(task, headers) {
      const key = { "idempotency-key": randomUUID(), ...headers };
      let answer = await server.api("POST", "/v1/tasks", task, key);
      await until(async () => {
        if (answer.status === 503) answer = await server.api("POST", "/v1/tasks", task, key);
        return answer.status !== 503;
      });
      assert.ok(answer.status === 201 || answer.status === 200, JSON.stringify(answer.json));
      return answer.json;
    },
    logged(event) {
      // What comes after the last line break is still being written.
      const lines = printed.stderr.split("\n").slice(0, -1);
      return lines.filter((line) => line.endsWith(`"msg":"${event}"}`)).map((line) => JSON.parse(line));
    },
    async ended(id) {
      let json: Json;
      const what = () => `the task has ended: ${JSON.stringify(json)}`;
      await until(async () => {
        const answer = await server.api("GET", `/v1/tasks/${id}`);
        assert.notEqual(answer.status, 404, id);
        // The record of a direct task stands beside others, and is spelled otherwise.
        json = answer.json.task ?? answer.json;
        return (json.completed_at ?? json.completedAt) !== undefined;
      }, what);
      return json;
    },
    signal(name) {
      child.kill(name);
      if (!ENDING.includes(name)) return;
      inTime(exit, () => `the exit after ${name}${lastWords()}`).catch((error) => {
        child.kill("SIGKILL");
        outlives(error);
      });
    },
  };
  launched.push(server);
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

/** For servers that a failed test left behind: while one runs, the process of its tests does not exit. */
export function killLaunched(): void {
  for (const { child } of launched) child.kill("SIGKILL");
}

/** Asks again until it holds; a failure shows what the servers printed last. */
export function until(
  holds: () => boolean | Promise<boolean>,
  what: () => string = () => String(holds),
): Promise<void> {
  return patientlyUntil(holds, { everyMs: 20, what: () => what() + lastWords() });
}

/** Of the newest servers. */
function lastWords(): string {
  const tail = (text: string) => text.split("\n").slice(-20).join("\n");
  return launched
    .slice(-3)
    .map(({ child, stdout, stderr }) => {
      const state = child.exitCode ?? child.signalCode ?? "runs";
      return `\n--- server ${child.pid} (${state}) printed last:\n${tail(stdout)}\n${tail(stderr)}`;
    })
    .join("");
}
