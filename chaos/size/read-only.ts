import { spawn } from "node:child_process";
import { join } from "node:path";
import { mayMount, NEEDS_ROOT, type SceneOptions, type SceneReport, seconds } from "./scene.ts";
import { createServer, makeDirectory, removeDirectory } from "./server.ts";
import { mountSmallDisk } from "./small-disk.ts";

/** A start that cannot succeed ends within this time, and says why. */
const GIVES_UP_MS = 15_000;

/** A data directory that cannot be written to, with a database in it and without one: the start says so, and ends. */
export async function readOnly({ distDir }: SceneOptions): Promise<SceneReport> {
  if (!mayMount()) return NEEDS_ROOT;
  const directory = await makeDirectory();
  const disk = mountSmallDisk(join(directory, "disk"), 700);
  const server = await createServer({ distDir, directory, dataDir: join(disk.path, "data") });
  try {
    disk.setReadOnly(true);
    const empty = await tryStart(distDir, server.dataDir);
    disk.setReadOnly(false);
    await server.node.start();
    await server.node.stop();
    disk.setReadOnly(true);
    const used = await tryStart(distDir, server.dataDir);
    disk.setReadOnly(false);
    await server.node.start();
    const isBack = server.node.pid !== null;
    return {
      lines: [
        `without a database: ended with ${empty.code} after ${seconds(empty.ms)}: ${empty.said}`,
        `with one: ended with ${used.code} after ${seconds(used.ms)}: ${used.said}`,
        `writable again, it ${isBack ? "starts" : "does not start"}`,
      ],
      violations: [empty, used].flatMap(({ code, ms, said }) => [
        ...(code === 1 && ms < GIVES_UP_MS ? [] : [`a start ended with ${code} after ${seconds(ms)}`]),
        ...(said.includes(server.dataDir) ? [] : ["the reason does not name the directory"]),
      ]),
      skipped: null,
    };
  } finally {
    await server.stop();
    disk.remove();
    removeDirectory(directory);
  }
}

function tryStart(
  distDir: string,
  dataDir: string,
): Promise<{ readonly code: number | null; readonly ms: number; readonly said: string }> {
  const begunMs = performance.now();
  const child = spawn(process.execPath, [join(distDir, "main.js")], {
    env: { PATH: process.env.PATH ?? "", HOST: "127.0.0.1", PORT: "0", BELLHOP_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const slow = setTimeout(() => child.kill("SIGKILL"), GIVES_UP_MS * 2);
  return new Promise((resolve) => {
    child.once("close", (code) => {
      clearTimeout(slow);
      resolve({ code, ms: performance.now() - begunMs, said: said.trim().split("\n").at(-1) ?? "" });
    });
  });
}
