import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFirstLink } from "../service/operator/operator.ts";
import { startEcho } from "./echo.ts";
import { withOperatorDatabase } from "./operator-database.ts";
import { type Bellhop, createBellhop } from "./sdk.ts";

export interface DevOptions {
  readonly dataDir?: string;
  readonly port: number;
  readonly echoPort: number;
  readonly json?: true;
}

const BELLHOP = fileURLToPath(new URL("bellhop.js", import.meta.url));
const QUEUE = "demo";

/**
 * Runs a server with its own database, the echo target and sample tasks, until Ctrl-C. The server is never exposed and reads
 * no setting from the environment except LOG_LEVEL, so it cannot touch another installation.
 */
export async function runDev(options: DevOptions, print: (text: string) => void): Promise<number> {
  const { dataDir, remove } = await prepareData(options.dataDir);
  const echo = await startEcho({ host: "127.0.0.1", port: options.echoPort, print: () => {} });
  const apiKey = `bh_live_${randomBytes(32).toString("hex")}`;
  const server = launch({ dataDir, port: options.port, apiKey });
  try {
    const url = await server.ready;
    if (url !== null) {
      await addSamples(createBellhop({ url, apiKey }), echo.url);
      const link = await withOperatorDatabase({ databaseUrl: null, dataDir }, (database) =>
        makeFirstLink(database, url),
      );
      const kept = remove === null ? dataDir : `${dataDir}, removed at the end`;
      print(
        options.json
          ? `${JSON.stringify({ url, apiKey, dashboard: link, echo: echo.url, dataDir })}\n`
          : describe({ url, apiKey, link, echoUrl: echo.url, kept }),
      );
    }
    return await server.exited;
  } finally {
    server.stop();
    await server.exited;
    await echo.stop();
    await remove?.();
  }
}

async function prepareData(wanted: string | undefined) {
  if (wanted !== undefined) return { dataDir: resolve(wanted), remove: null };
  const dataDir = await mkdtemp(join(tmpdir(), "bellhop-dev-"));
  // As root, PostgreSQL runs as another user, which needs access to the directory.
  await chmod(dataDir, 0o755);
  return { dataDir, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

function launch({ dataDir, port, apiKey }: { dataDir: string; port: number; apiKey: string }) {
  const child = spawn(process.execPath, [BELLHOP, "start"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH ?? "",
      HOST: "127.0.0.1",
      PORT: String(port),
      LOG_LEVEL: process.env.LOG_LEVEL ?? "warn",
      BELLHOP_DATA_DIR: dataDir,
      BELLHOP_API_KEY: apiKey,
      BELLHOP_PROCESSES: "1",
    },
  });
  const exited = once(child, "exit").then(([code]): number => (typeof code === "number" ? code : 1));
  const stop = () => {
    if (child.exitCode === null) child.kill("SIGTERM");
  };
  // The server gets each signal twice, from the terminal and from here, and counts them as one.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  let printed = "";
  const ready = new Promise<string | null>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      const url = /Bellhop is ready at (\S+)/.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    // The server has printed the reason on stderr.
    exited.then(() => resolve(null));
  });
  return { ready, exited, stop };
}

/** Creates tasks that complete, complete at the third attempt, fail, are polled and are delayed. Only in a new database. */
async function addSamples(client: Bellhop, echoUrl: string): Promise<void> {
  if ((await client.queues.list()).some(({ name }) => name === QUEUE)) return;
  await client.queues.create({ name: QUEUE, concurrency: 2 });
  const call = (path: string) => ({ queue: QUEUE, webhookUrl: `${echoUrl}${path}`, tags: ["sample"] });
  await client.tasks.createMany([
    { ...call("/welcome"), payload: { user: 42 } },
    { ...call("/fail/2"), payload: { note: "works at the third attempt" } },
    { ...call("/status/404"), maxRetries: 0 },
    { ...call("/later"), delay: 3600 },
    { targetUrl: `${echoUrl}/fal`, provider: "fal", tags: ["sample"] },
  ]);
}

function describe(dev: {
  readonly url: string;
  readonly apiKey: string;
  readonly link: string | null;
  readonly echoUrl: string;
  readonly kept: string;
}): string {
  return `Bellhop is ready at ${dev.url}
  dashboard  ${dev.link ?? dev.url}
  echo       ${dev.echoUrl}, a test target: bellhop echo --help lists its paths
  data       ${dev.kept}
  tasks      sample tasks in the queue ${QUEUE}

  export BELLHOP_URL=${dev.url}
  export BELLHOP_API_KEY=${dev.apiKey}

Paste these two lines into another terminal, then run: bellhop tasks list. Ctrl-C stops the server.
`;
}
