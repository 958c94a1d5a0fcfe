import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { repositoryRoot, startProcess } from "../../tools/child-process.ts";
import { frontDoorBody, payloadFor, type Subject } from "./subject.ts";

const home = `${repositoryRoot}bench/peers`;

interface Peer {
  name: string;
  /** Its file, where that has another name. */
  script?: string;
  env?: Record<string, string>;
  needs: "redis" | "postgres";
  /** Those with a front door of their own: where it is, and what it takes. */
  pathFor?(targetUrl: string): string;
  bodyFor?(seq: number): string;
}

/** What each is set to, and where that comes from: bench/peers/README.md. */
const list: Peer[] = [
  { name: "bullmq", needs: "redis" },
  // As durable as the others: a job is on disk before its submission is answered.
  { name: "bullmq-always", script: "bullmq", needs: "redis", env: { PEER_APPENDFSYNC: "always" } },
  { name: "pg-boss", needs: "postgres" },
  { name: "graphile-worker", needs: "postgres" },
  {
    name: "quirrel",
    needs: "redis",
    pathFor: (targetUrl) => `/queues/${encodeURIComponent(targetUrl)}`,
    bodyFor: (seq) => JSON.stringify({ body: JSON.stringify(payloadFor(seq)) }),
  },
];

export const peers: Subject[] = list.map((peer) => ({
  name: peer.name,
  findMissing: () => findMissing(peer),
  async start({ dataDir, logFile, targetUrl, grouped, atOnce }) {
    const started = await startProcess({
      name: peer.name,
      args: [`${home}/${peer.script ?? peer.name}.mjs`],
      env: {
        PORT: "0",
        PEER_DATA_DIR: dataDir,
        PEER_GROUPED: grouped ? "yes" : "no",
        ...(atOnce === undefined ? {} : { PEER_CONCURRENCY: String(atOnce) }),
        NODE_ENV: "production",
        ...peer.env,
      },
      logFile,
    });
    return {
      pids: [started.pid],
      submitUrls: [`${started.readyAt}${peer.pathFor?.(targetUrl) ?? "/tasks"}`],
      headers: {},
      bodyFor: peer.bodyFor ?? frontDoorBody,
      stop: started.stop,
    };
  },
}));

function findMissing({ name, needs }: Peer): string | undefined {
  if (needs === "redis" && spawnSync("redis-server", ["--version"]).status !== 0)
    return `${name} is skipped: there is no redis-server on this machine (Debian: apt-get install redis-server)`;
  if (!isInstalled() && !install()) return `${name} is skipped: npm ci in bench/peers did not succeed`;
  return undefined;
}

/** npm writes its own list last. */
function isInstalled(): boolean {
  const listed = `${home}/node_modules/.package-lock.json`;
  return existsSync(listed) && statSync(listed).mtimeMs >= statSync(`${home}/package-lock.json`).mtimeMs;
}

let tried = false;
function install(): boolean {
  if (tried) return false;
  tried = true;
  console.log("Installing the peers into bench/peers, once …");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: home,
    stdio: "inherit",
  });
  return status === 0;
}
