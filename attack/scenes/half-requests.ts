import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Scene } from "../scene.ts";

/** More than the server takes in all. */
const CONNECTIONS = 11_200;
const TICK_MS = 50;
/** Opened beforehand; then 600 a second are tried again, because half a request is given 20 s. */
const PER_TICK = { before: 100, during: 30 };
const HALF = "GET /livez HTTP/1.1\r\nHost: a\r\nX-Slow: ";

export const scene: Scene = {
  what: "one source keeps as many connections open as it gets, of 11,200, each with half a request",
  seconds: 15,
  async prepare(stage) {
    const port = Number(new URL(stage.url).port);
    const sockets = new Set<Socket>();
    const open = () => {
      // From a second address of this machine: the victim has one of its own.
      const socket = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.2" });
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("connect", () => socket.write(HALF));
      socket.on("close", () => sockets.delete(socket));
    };
    for (let opened = 0; opened < CONNECTIONS; opened += 1) {
      open();
      if (opened % PER_TICK.before === 0) await wait(TICK_MS);
    }
    return async (signal) => {
      while (!signal.aborted) {
        for (let opened = 0; opened < PER_TICK.during && sockets.size < CONNECTIONS; opened += 1) open();
        await wait(TICK_MS);
      }
      for (const socket of sockets) socket.destroy();
    };
  },
};
