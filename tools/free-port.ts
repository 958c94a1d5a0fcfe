import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that the system gives to connections: one of them would be in use again before a server has started. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const given = new Set<number>();

/** Of loopback, and never the same twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
