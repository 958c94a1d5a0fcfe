import { createServer, type RequestListener } from "node:http";
import type { AttackTarget } from "../scene.ts";

/** Where the attacker's own tasks go. */
export async function startTarget(): Promise<AttackTarget & { stop(): Promise<void> }> {
  const seen = new Map<string, number>();
  const handlers = new Map<string, RequestListener>([
    ["/hang", () => {}],
    ["/ok", (_, response) => response.end("{}")],
    ["/error", (_, response) => response.writeHead(500).end()],
  ]);
  let open = 0;
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    seen.set(path, (seen.get(path) ?? 0) + 1);
    open += 1;
    response.once("close", () => {
      open -= 1;
    });
    request.on("error", () => {});
    response.on("error", () => {});
    request.resume();
    const handler = handlers.get(path);
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  });
  server.on("clientError", (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    get open() {
      return open;
    },
    seen,
    answer: (path, handler) => void handlers.set(path, handler),
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
