import {
  chownSync,
  cpSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Load, startLoad, waitForAll } from "./load.ts";
import { mayMount, NEEDS_ROOT, type SceneOptions, type SceneReport, seconds } from "./scene.ts";
import { createServer, makeDirectory, removeDirectory, type Server } from "./server.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import { type PromptTarget, startPromptTarget } from "./target.ts";

/** So long something is used up, and so soon after there is enough of it again the server must take tasks. */
const USED_UP_MS = 15_000;
const HEALED_MS = 15_000;
const ENDED_MS = 90_000;

/** Uses something up while tasks are created, gives it back, and looks for every task that was accepted. */
async function playOut(scene: {
  readonly server: Server;
  readonly target: PromptTarget;
  readonly load: Load;
  readonly useUp: () => void | Promise<void>;
  readonly giveBack: () => void;
  readonly say: (line: string) => void;
}): Promise<SceneReport> {
  const { server, load, say } = scene;
  const { node } = server;
  const pid = node.pid;
  await sleep(2_000);
  await scene.useUp();
  const before = load.accepted.length;
  const usedUpAt = performance.now();
  await sleep(USED_UP_MS);
  const during = load.accepted.length - before;
  say(`used up for ${seconds(performance.now() - usedUpAt)}: ${load.counts()}`);
  scene.giveBack();
  const healedAt = performance.now();
  await sleep(HEALED_MS);
  const healedMs = Math.max(0, (load.lastRefusedAt ?? healedAt) - healedAt);
  const wrong = await load.stop();
  const lost = await waitForAll(node, load.accepted, ENDED_MS);
  const wasRefused = load.lastRefusedAt !== null && load.lastRefusedAt > usedUpAt;
  return {
    lines: [
      `${load.accepted.length} tasks accepted, ${before} before, ${during} while it was used up; answers: ${load.counts()}`,
      wasRefused
        ? `last refusal ${seconds(healedMs)} after there was enough again`
        : "no request was refused",
      `${load.accepted.length - lost.length} of ${load.accepted.length} accepted tasks completed, ${scene.target.calls} calls`,
    ],
    violations: [
      ...wrong,
      ...(lost.length > 0 ? [`${lost.length} accepted tasks did not complete, ${lost[0]} for one`] : []),
      ...(node.pid !== pid ? ["the node did not stay up"] : []),
      ...(healedMs >= HEALED_MS - 1_000 ? ["it did not take tasks again"] : []),
    ],
    skipped: null,
  };
}

/** Another program fills the disk to the last byte within a moment, and removes its file 15 s later. */
export async function diskFull({ distDir, say }: SceneOptions): Promise<SceneReport> {
  if (!mayMount()) return NEEDS_ROOT;
  const directory = await makeDirectory();
  const disk = mountSmallDisk(join(directory, "disk"), 700);
  const server = await createServer({ distDir, directory, dataDir: join(disk.path, "data") });
  const target = await startPromptTarget();
  try {
    await server.node.start();
    const ballast = join(disk.path, "ballast");
    const load = startLoad({ node: server.node, target, everyMs: 20, bytes: 10_000 });
    return await playOut({
      server,
      target,
      load,
      say,
      useUp: () => fillUp(ballast),
      giveBack: () => rmSync(ballast),
    });
  } finally {
    target.stop();
    await server.stop();
    disk.remove();
    removeDirectory(directory);
  }
}

function fillUp(file: string): void {
  const megabyte = Buffer.alloc(1 << 20);
  try {
    for (;;) writeFileSync(file, megabyte, { flag: "a" });
  } catch {
    // No space left: that is what was wanted.
  }
}

/** The log of the database lies on a disk of its own that is too small for it, and is made larger 15 s after it is full. */
export async function walFull({ distDir, say }: SceneOptions): Promise<SceneReport> {
  if (!mayMount()) return NEEDS_ROOT;
  const directory = await makeDirectory();
  const server = await createServer({ distDir, directory, dataDir: join(directory, "data") });
  const disk = mountSmallDisk(join(directory, "wal"), 128);
  const target = await startPromptTarget();
  try {
    await server.node.start();
    await server.node.stop();
    moveWal(join(server.dataDir, "pgdata"), disk);
    await server.node.start();
    const load = startLoad({ node: server.node, target, everyMs: 1, bytes: 200_000, clients: 4 });
    return await playOut({
      server,
      target,
      load,
      say,
      useUp: () => untilRefused(load),
      giveBack: () => disk.resize(2_000),
    });
  } finally {
    target.stop();
    await server.stop();
    disk.remove();
    removeDirectory(directory);
  }
}

function moveWal(pgdata: string, disk: SmallDisk): void {
  const own = join(pgdata, "pg_wal");
  const moved = join(disk.path, "pg_wal");
  const { uid, gid } = statSync(own);
  cpSync(own, moved, { recursive: true });
  for (const path of [
    moved,
    ...readdirSync(moved, { recursive: true }).map((name) => join(moved, String(name))),
  ])
    chownSync(path, uid, gid);
  renameSync(own, `${own}.before`);
  symlinkSync(moved, own);
}

async function untilRefused(load: Load): Promise<void> {
  const untilMs = performance.now() + 60_000;
  while (load.lastRefusedAt === null && performance.now() < untilMs) await sleep(50);
  if (load.lastRefusedAt === null) throw new Error("The log of the database did not fill up");
}

/** More than a server needs, and fewer than there are idle connections. */
const FEW_FILES = 400;
const IDLE = 800;

/** Idle connections take all file descriptors of the node, whatever it closes comes again, and all end 15 s later. */
export async function outOfFiles({ distDir, say }: SceneOptions): Promise<SceneReport> {
  const directory = await makeDirectory();
  const dataDir = join(directory, "data");
  const server = await createServer({ distDir, directory, dataDir, fileLimit: FEW_FILES });
  const target = await startPromptTarget();
  let idle: IdleConnections | null = null;
  try {
    await server.node.start();
    const load = startLoad({ node: server.node, target, everyMs: 50, bytes: 100 });
    const report = await playOut({
      server,
      target,
      load,
      say,
      useUp() {
        idle = openIdle(Number(new URL(server.node.url).port), IDLE);
      },
      giveBack: () => idle?.close(),
    });
    const warnings = ["files.nearly_exhausted", "files.exhausted"].filter((event) =>
      server.log().includes(event),
    );
    const missing = warnings.length === 0 ? ["the log does not say that files ran out"] : [];
    return {
      ...report,
      lines: [...report.lines, `the log says ${warnings.join(" and ")}`],
      violations: [...report.violations, ...missing],
    };
  } finally {
    target.stop();
    await server.stop();
    removeDirectory(directory);
  }
}

interface IdleConnections {
  close(): void;
}

/** So many connections that say nothing: one that is closed is opened again. */
function openIdle(port: number, count: number): IdleConnections {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = () => {
    if (isOver) return;
    const socket = connect(port, "127.0.0.1");
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      setTimeout(open, 100);
    });
  };
  for (let left = count; left > 0; left -= 1) open();
  return {
    close() {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
