import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { isStartedByNpm, waitsForItsCommand } from "../../src/server/npm-shell.ts";
import { MAIN, ROOT, SERVER } from "../places.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { launch, ready, type ServerProcess } from "./server-process.ts";

describe("a server started through a shell", () => {
  let test: TestDatabase;
  /** npm writes its logs there. */
  let home: string;
  const running: ServerProcess[] = [];

  before(async () => {
    test = await createTestDatabase();
    home = await mkdtemp(join(tmpdir(), "bellhop-npx-"));
    // An install links the command only if it was built before.
    const command = join(SERVER, "dist/cli/bellhop.js");
    await chmod(command, 0o755);
    await symlink(command, join(home, "bellhop"));
  });
  afterEach(() => {
    // All of the group: the server may have lost its parents.
    for (const { child } of running.splice(0)) {
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // It has ended.
      }
    }
  });
  after(async () => {
    await test.drop();
    await rm(home, { recursive: true, force: true });
  });

  async function start(file: string, args: readonly string[]): Promise<ServerProcess> {
    const { host, port, user, database } = test.connection;
    const DATABASE_URL = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
    const server = launch({ DATABASE_URL, HOME: home, PATH: `${home}:${process.env.PATH}` }, ROOT, {
      file,
      args,
      detached: true,
    });
    running.push(server);
    return ready(server);
  }

  it("stops with a shell that npx started, and survives the end of another shell", async () => {
    // The second command keeps the shell from becoming the server.
    const other = await start("sh", ["-c", `"${process.execPath}" "${MAIN}"; exit`]);
    const byNpx = await start("npx", ["-c", "bellhop start"]);
    other.signal("SIGTERM");
    await other.exited;
    byNpx.signal("SIGTERM");
    // No process holds the pipe any more, neither npx nor a server that it left behind.
    await once(byNpx.child, "close");

    assert.equal(byNpx.stderr.match(/"msg":"bellhop\.stopped"/g)?.length, 1);
    assert.equal((await fetch(`${other.url}/readyz`)).status, 200);
    assert.doesNotMatch(other.stderr, /bellhop\.stopping/);
  });
});

describe("the shell of npm", () => {
  it("is watched only if it runs the server in the foreground", () => {
    for (const line of [
      "sh -c bellhop start",
      "/bin/sh -c cd here && bellhop start > log 2>&1",
      "/usr/bin/bash -c bellhop start &> log",
    ])
      assert.equal(waitsForItsCommand(line), true, line);
    for (const line of [
      "sh -c bellhop start &",
      "sh -c bellhop start > log 2>&1 & sleep 1",
      "sh -c nohup bellhop start",
      "sh -c setsid bellhop start",
      "sh start.sh",
      "-bash",
      "npm exec bellhop start",
      "node supervisor.js",
      "/sbin/init",
      "",
    ])
      assert.equal(waitsForItsCommand(line), false, line);
  });

  it("is recognized by npm's environment variables", () => {
    assert.equal(isStartedByNpm({ npm_command: "exec" }), true);
    assert.equal(isStartedByNpm({ npm_lifecycle_event: "start" }), true);
    assert.equal(isStartedByNpm({ PATH: "/bin", INVOCATION_ID: "1" }), false);
  });
});
