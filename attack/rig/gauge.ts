/**
 * Watches the server as others see it, in a process of its own: what the attack costs the runner must not be taken for
 * what it costs the server. Asks /livez, has a victim's tasks made, and reads the node's memory.
 */
import { createServer, request as openRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readUsage } from "../../tools/process-usage.ts";
import type { VictimKind } from "../scene.ts";
import { type GaugeJob, type Readings, UNANSWERED_MS } from "./readings.ts";

const LIVEZ_EVERY_MS = 100;
const BEAT_MS = 20;

const POLL_SECONDS = 5;
/** When the victim's n-th task was due to be served, and when it was. */
const expected = new Map<number, number>();
const served = new Map<number, number>();
let job: GaugeJob | null = null;
let worstLivezMs = 0;
let peakMb = 0;
let machineMs = 0;
let refusals = 0;
let next = 0;
let ending = false;

const target = createServer((request, response) => {
  const [, kind, number = ""] = (request.url ?? "").split("/");
  const now = performance.now();
  request.resume();
  const victim = job?.victim ?? "task";
  const serves = { call: "task", poll: "poll", told: "notification" }[kind ?? ""];
  if (serves === victim && !served.has(Number(number))) served.set(Number(number), now);
  response.end(JSON.stringify({ number, status: "done" }));
  // The next thing is due from when the call was answered.
  if (kind === "call" && victim !== "task")
    expected.set(Number(number), now + (victim === "poll" ? POLL_SECONDS * 1000 : 0));
});

function send(path: string, options: { key?: string; body?: string } = {}): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = openRequest(`${job?.url}${path}`, {
      method: options.body === undefined ? "GET" : "POST",
      agent: false,
      timeout: UNANSWERED_MS,
      headers: {
        ...(options.key !== undefined && { authorization: `Bearer ${options.key}` }),
        ...(options.body !== undefined && { "content-type": "application/json" }),
      },
    });
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.on("error", () => resolve(0));
    outgoing.on("response", (response) => {
      response.resume();
      response.on("error", () => resolve(0));
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.end(options.body);
  });
}

/** The first requests of a process compile what sends them, and the first answer of a route what writes it. */
const PRACTICE = 20;

async function watch(watched: GaugeJob): Promise<void> {
  for (let count = 0; count < PRACTICE; count += 1) await send("/livez");
  void watchLivez();
  void beVictim(watched);
  void watchMemory(watched);
  void watchMachine();
}

async function watchLivez(): Promise<void> {
  while (!ending) {
    const beganAt = performance.now();
    const status = await send("/livez");
    const ms = status === 200 ? performance.now() - beganAt : UNANSWERED_MS;
    worstLivezMs = Math.max(worstLivezMs, ms);
    await sleep(Math.max(0, LIVEZ_EVERY_MS - ms));
  }
}

function taskOf(victim: VictimKind, number: number): string {
  const url = `http://127.0.0.1:${portOf()}`;
  const call = { targetUrl: `${url}/call/${number}`, method: "POST", body: "{}" };
  if (victim === "task") return JSON.stringify(call);
  if (victim === "notification") return JSON.stringify({ ...call, onCompleteUrl: `${url}/told/${number}` });
  const pollConfig = {
    urlTemplate: `${url}/poll/${number}`,
    interval: POLL_SECONDS,
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["failed"],
  };
  return JSON.stringify({ ...call, pollConfig });
}

async function beVictim({ victim, key, everyMs }: GaugeJob): Promise<void> {
  while (!ending) {
    const number = next;
    next += 1;
    const beganAt = performance.now();
    if (victim === "task") expected.set(number, beganAt);
    void send("/v1/tasks", { key, body: taskOf(victim, number) }).then((status) => {
      if (status === 201) return;
      refusals += 1;
      // It counts as late from when it was asked for.
      expected.set(number, beganAt);
    });
    await sleep(everyMs);
  }
}

async function watchMemory({ pid }: GaugeJob): Promise<void> {
  while (!ending) {
    peakMb = Math.max(peakMb, readUsage(pid).rssMb);
    await sleep(BEAT_MS * 10);
  }
}

async function watchMachine(): Promise<void> {
  while (!ending) {
    const beganAt = performance.now();
    await sleep(BEAT_MS);
    machineMs = Math.max(machineMs, performance.now() - beganAt - BEAT_MS);
  }
}

function read(): Readings {
  const now = performance.now();
  const lateness = [...expected].map(([number, at]) => Math.max(0, (served.get(number) ?? now) - at));
  const unserved = [...expected].filter(([number, at]) => at < now && !served.has(number)).length;
  const due = lateness.filter((_, index) => ([...expected.values()][index] ?? 0) <= now);
  return {
    worstLivezMs,
    worstVictimMs: due.length === 0 ? null : Math.max(...due),
    victimP99Ms: due.sort((one, other) => one - other)[Math.ceil(due.length * 0.99) - 1] ?? null,
    victims: due.length,
    unserved,
    refusals,
    peakMb,
    machineMs,
  };
}

function portOf(): number {
  const address = target.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

process.on("message", (message: GaugeJob | "reset" | "end") => {
  if (message === "end") {
    ending = true;
    process.send?.(read(), () => process.exit(0));
  } else if (message === "reset") {
    process.send?.(read());
    worstLivezMs = 0;
    machineMs = 0;
    refusals = 0;
    peakMb = 0;
    expected.clear();
  } else {
    job = message;
    void watch(message);
  }
});
process.once("disconnect", () => process.exit(0));
target.listen(0, "127.0.0.1", () => console.log(`gauge is ready at http://127.0.0.1:${portOf()}`));
