import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { MAIN } from "../places.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { launch, ready, type ServerProcess, until } from "./server-process.ts";

const LIMIT = 256;

describe("a server with a limit of 256 open files", { skip: process.platform !== "linux" }, () => {
  let test: TestDatabase;
  let server: ServerProcess;
  const sockets: Socket[] = [];
  before(async () => {
    test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    const DATABASE_URL = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
    const limited = `ulimit -n ${LIMIT}; exec "$0" "$1"`;
    const args = ["-c", limited, process.execPath, MAIN];
    server = await ready(launch({ DATABASE_URL }, process.cwd(), { file: "/bin/sh", args }));
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    server.signal("SIGKILL");
    await server.exited;
    await test.drop();
  });

  it("warns at the start, and names the setting", () => {
    const [line, ...others] = server.logged("files.limit_low");
    assert.deepEqual([line.limit, line.recommended, others.length], [LIMIT, 4_096, 0]);
    assert.match(line.set, /LimitNOFILE=/);
  });

  it("warns once when 300 connections use up its file descriptors", async () => {
    assert.deepEqual(server.logged("files.nearly_exhausted"), []);
    const { hostname, port } = new URL(server.url);
    let closed = 0;
    for (let index = 0; index < 300; index += 1) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.on("close", () => {
        closed += 1;
      });
      sockets.push(socket);
    }
    await until(() => closed > 0 && server.logged("files.nearly_exhausted").length > 0);

    const [line, ...others] = server.logged("files.nearly_exhausted");
    assert.deepEqual([line.limit, others.length], [LIMIT, 0]);
    assert.ok(line.open >= Math.floor(LIMIT * 0.9) && line.open <= LIMIT, `${line.open} of ${LIMIT}`);
  });
});
