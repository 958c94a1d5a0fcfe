import { connect, type Socket } from "node:net";
import type { Scene } from "../scene.ts";

/** More than the server takes in all. */
const CONNECTIONS = 11_200;
const AT_ONCE = 100;
const HALF = "GET /livez HTTP/1.1\r\nHost: a\r\nX-Slow: ";

/** Every connection that is closed is opened again, as a client of ill will does. */
export const scene: Scene = {
  what: "one source keeps 11,200 connections open, each with half a request",
  seconds: 20,
  excused: { memory: "an open connection costs some 10 kB: a thousand from one source are allowed" },
  async prepare(stage) {
    const { port } = new URL(stage.url);
    return async (signal) => {
      const sockets = new Set<Socket>();
      const keepOpen = () =>
        new Promise<void>((resolve) => {
          // A second address of this machine: the victim has one of its own.
          const socket = connect({ host: "127.0.0.1", port: Number(port), localAddress: "127.0.0.2" });
          sockets.add(socket);
          socket.on("error", () => {});
          socket.on("connect", () => socket.write(HALF));
          socket.on("close", () => {
            sockets.delete(socket);
            resolve();
          });
          if (sockets.size < CONNECTIONS) socket.on("connect", () => resolve());
        });
      const opener = async () => {
        while (!signal.aborted) await keepOpen();
      };
      await Promise.all(Array.from({ length: AT_ONCE }, opener));
      for (const socket of sockets) socket.destroy();
    };
  },
};
