import { spawn } from "node:child_process";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A Redis of this peer's own, on a socket as PostgreSQL is for the others. Durable as BullMQ's guide for production asks
 * for: append-only file, written to disk every second, or before every answer; no eviction, no snapshots beside it.
 */
export async function startRedis(dataDir) {
  const path = join(dataDir, "redis.sock");
  const settings = {
    port: "0",
    unixsocket: path,
    dir: dataDir,
    appendonly: "yes",
    appendfsync: process.env.PEER_APPENDFSYNC || "everysec",
    save: "",
    "maxmemory-policy": "noeviction",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn("redis-server", args, { stdio: ["ignore", "inherit", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.once("error", (error) => console.error(error));
  for (let tries = 0; !(await answers(path)); tries++) {
    if (tries > 200 || child.exitCode !== null) throw new Error("Redis does not start");
    await sleep(25);
  }
  return {
    path,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function answers(path) {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => socket.end(() => resolve(true)));
    socket.once("error", () => resolve(false));
  });
}
