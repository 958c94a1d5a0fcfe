/**
 * The target of all calls, in its own process: answers 200 and remembers when each task arrived. It tells tasks apart by
 * the sequence number in the payload, so that a lost task and one called twice are both seen.
 */
import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "./clock.ts";
import { type HttpMessage, takeMessage } from "./http-message.ts";
import type { TargetStats } from "./target-client.ts";

const seqPattern = /"seq":\s*(\d+)/;
const callAnswer = answerWith("{}");
const failAnswer = callAnswer.replace("200 OK", "500 Internal Server Error");
const pollAnswer = answerWith(JSON.stringify({ status: "running" }));

let from = 0;
let arrivals = new Float64Array(0);
let received = 0;
let repeated = 0;
let strays = 0;
let polls = 0;
let lastAt = 0;
let failEvery = 0;
let failed = new Set<number>();

function answerWith(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function reset(first: number, count: number, every: number): void {
  failEvery = every;
  failed = new Set();
  polls = 0;
  from = first;
  arrivals = new Float64Array(count);
  received = 0;
  repeated = 0;
  strays = 0;
  lastAt = 0;
}

/** Returns the answer. */
function recordCall(body: string): string {
  const index = Number(seqPattern.exec(body)?.[1] ?? Number.NaN) - from;
  if (!(index >= 0 && index < arrivals.length)) {
    strays++;
  } else if (failEvery > 0 && index % failEvery === 0 && !failed.has(index)) {
    failed.add(index);
    return failAnswer;
  } else if (arrivals[index] !== 0) {
    repeated++;
  } else {
    lastAt = nowMs();
    arrivals[index] = lastAt;
    received++;
  }
  return callAnswer;
}

/** Ends when all have arrived, none has for `stallMs`, or time is up: a lost task must not hang the bench. */
async function waitForAll(stallMs: number, limitMs: number): Promise<void> {
  const startedAt = nowMs();
  while (received < arrivals.length) {
    const at = nowMs();
    if (at - Math.max(lastAt, startedAt) > stallMs || at - startedAt > limitMs) return;
    await sleep(5);
  }
}

/** What comes by GET: the bench itself, and the polls of tasks that are never done. */
async function look(message: HttpMessage, socket: Socket): Promise<void> {
  const url = new URL(message.start.split(" ", 2)[1] ?? "/", "http://target");
  const number = (name: string) => Number(url.searchParams.get(name));
  if (url.pathname === "/poll") {
    polls++;
    socket.write(pollAnswer);
    return;
  }
  if (url.pathname === "/control/reset") reset(number("from"), number("count"), number("failEvery"));
  if (url.pathname === "/control/wait") await waitForAll(number("stallMs"), number("limitMs"));
  if (url.pathname === "/control/arrivals") {
    socket.write(answerWith(Buffer.from(arrivals.buffer).toString("base64")));
    return;
  }
  const stats: TargetStats = { received, repeated, strays, polls, lastAt };
  socket.write(answerWith(JSON.stringify(stats)));
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = "";
  socket.setEncoding("latin1");
  // A subject that is stopped resets its connections.
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: string) => {
    pending += chunk;
    for (let message = takeMessage(pending); message !== undefined; message = takeMessage(pending)) {
      pending = message.rest;
      if (message.start.startsWith("GET ")) {
        void look(message, socket);
      } else {
        socket.write(recordCall(message.body));
      }
    }
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the target has no port");
  console.log(`Target is ready at http://127.0.0.1:${address.port}`);
});
