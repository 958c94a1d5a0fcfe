import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inTime } from "./patience.ts";

export interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HeldCall {
  readonly call: ReceivedCall;
  readonly response: ServerResponse;
}

export interface TestTarget {
  readonly url: string;
  readonly calls: ReceivedCall[];
  /** Calls that arrived and were not answered yet, oldest first, once `hold` was called. */
  readonly held: HeldCall[];
  /** Most calls that were unanswered at once. */
  readonly mostAtOnce: number;
  /** The same for one path. */
  mostAtOnceAt(path: string): number;
  /** What to do with a call; by default it is answered 200 at once. */
  answer: (call: ReceivedCall, response: ServerResponse) => void;
  /** From now on calls wait for `release`. */
  hold(): void;
  /** Answers so many of the held calls, oldest first; all of them by default. Later ones are still held. */
  release(count?: number, status?: number): void;
  /** Resolves once so many calls have arrived in all. */
  received(count: number): Promise<void>;
  /** Resolves once so many calls have been broken off by the caller before they were answered. */
  broken(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A real HTTP server that calls are made to. */
export async function startTestTarget(): Promise<TestTarget> {
  const calls: ReceivedCall[] = [];
  const held: HeldCall[] = [];
  const received = createCounter("received calls");
  const broken = createCounter("calls that were broken off");
  const everywhere = createGauge();
  const gauges = new Map<string, Gauge>();

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const here = gauges.get(path) ?? createGauge();
      gauges.set(path, here);
      everywhere.enter();
      here.enter();
      response.on("close", () => {
        everywhere.leave();
        here.leave();
        if (response.writableFinished) return;
        const index = held.findIndex((each) => each.response === response);
        if (index >= 0) held.splice(index, 1);
        broken.add();
      });
      const call = { method, path, headers, body: Buffer.concat(chunks).toString("utf8") };
      calls.push(call);
      target.answer(call, response);
      received.add();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  const target: TestTarget = {
    url: `http://127.0.0.1:${port}`,
    calls,
    held,
    get mostAtOnce() {
      return everywhere.most;
    },
    mostAtOnceAt: (path) => gauges.get(path)?.most ?? 0,
    answer: (_call, response) => response.end("{}"),
    hold() {
      target.answer = (call, response) => held.push({ call, response });
    },
    release(count = held.length, status = 200) {
      for (const { response } of held.splice(0, count)) response.writeHead(status).end("{}");
    },
    received: received.reached,
    broken: broken.reached,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return target;
}

interface Gauge {
  readonly most: number;
  enter(): void;
  leave(): void;
}

function createGauge(): Gauge {
  let now = 0;
  let most = 0;
  return {
    get most() {
      return most;
    },
    enter() {
      now += 1;
      most = Math.max(most, now);
    },
    leave() {
      now -= 1;
    },
  };
}

interface Counter {
  add(): void;
  reached(count: number): Promise<void>;
}

function createCounter(what: string): Counter {
  let total = 0;
  const waiters: { count: number; resolve: () => void }[] = [];
  return {
    add() {
      total += 1;
      for (const waiter of waiters) if (total >= waiter.count) waiter.resolve();
    },
    reached(count) {
      if (total >= count) return Promise.resolve();
      const reached = new Promise<void>((resolve) => waiters.push({ count, resolve }));
      return inTime(reached, () => `${count} ${what}; there were ${total}`);
    },
  };
}
