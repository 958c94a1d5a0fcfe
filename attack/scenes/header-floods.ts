import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Scene } from "../scene.ts";

const CONNECTIONS = 16;
/** Just under what the server takes of headers: many small ones, which cost most to read. */
const HEADERS = Array.from({ length: 1_100 }, (_, number) => `a${number}: b`).join("\r\n");
/** Many values of one query parameter, each to be refused. */
const QUERY = Array.from({ length: 900 }, (_, number) => `tag=${number}`).join("&");

const head = (path: string, key: string, more: string) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${more}\r\n\r\n`;

export const scene: Scene = {
  what: "one source sends requests with 1,100 headers, and with 900 query parameters, as fast as they are answered",
  async prepare(stage) {
    const port = Number(new URL(stage.url).port);
    const { key } = await stage.team({ plan: "enterprise", owner: "mallory@example.com" });
    const requests = [
      head("/v1/tasks", key, HEADERS),
      head("/v1/tasks", `${key}x`, HEADERS),
      head(`/v1/tasks?${QUERY}`, key, "Accept: */*"),
      head("/livez", key, HEADERS),
    ];
    const open = new Set<Socket>();
    const flood = async (request: string, signal: AbortSignal) => {
      while (!signal.aborted) {
        // From a second address of this machine: the victim has one of its own.
        const socket = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.2" });
        const closed = once(socket, "close");
        socket.on("error", () => {});
        socket.on("connect", () => socket.write(request));
        socket.on("data", () => socket.write(request));
        open.add(socket);
        await closed;
        open.delete(socket);
      }
    };
    return async (signal) => {
      signal.addEventListener("abort", () => {
        for (const socket of open) socket.destroy();
      });
      await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, number) =>
          flood(requests[number % requests.length] ?? "", signal),
        ),
      );
    };
  },
};
