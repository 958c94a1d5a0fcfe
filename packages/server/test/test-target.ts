import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestTarget {
  readonly url: string;
  readonly calls: ReceivedCall[];
  /** Most calls that were unanswered at once. */
  readonly mostAtOnce: number;
  /** What to do with a call; by default it is answered 200 at once. */
  answer: (call: ReceivedCall, response: ServerResponse) => void;
  /** Resolves once so many calls have arrived in all. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A real HTTP server that calls are made to. */
export async function startTestTarget(): Promise<TestTarget> {
  const calls: ReceivedCall[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      response.on("close", () => {
        atOnce -= 1;
      });
      const { method = "", url: path = "", headers } = request;
      const call = { method, path, headers, body: Buffer.concat(chunks).toString("utf8") };
      calls.push(call);
      target.answer(call, response);
      for (const waiter of waiters) if (calls.length >= waiter.count) waiter.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  const target: TestTarget = {
    url: `http://127.0.0.1:${port}`,
    calls,
    get mostAtOnce() {
      return mostAtOnce;
    },
    answer: (_call, response) => response.end("{}"),
    received(count) {
      if (calls.length >= count) return Promise.resolve();
      return new Promise((resolve) => waiters.push({ count, resolve }));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return target;
}
