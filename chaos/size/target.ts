import { createServer } from "node:http";

/** Answers every call at once, and knows which paths were called first when, and how often anything was. */
export interface PromptTarget {
  readonly url: string;
  readonly arrivedAt: ReadonlyMap<string, number>;
  readonly calls: number;
  stop(): void;
}

export async function startPromptTarget(): Promise<PromptTarget> {
  const arrivedAt = new Map<string, number>();
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume();
    calls += 1;
    const path = request.url ?? "";
    if (!arrivedAt.has(path)) arrivedAt.set(path, performance.now());
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4_096, resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    arrivedAt,
    get calls() {
      return calls;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
