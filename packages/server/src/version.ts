import { readFileSync } from "node:fs";

/** From package.json, the only place to change it. */
const { version, engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

export const VERSION: string = version;

/**
 * Exits with a message on an old Node, or on another runtime. The entry files import everything else after this: an old Node would fail on the
 * imports with a useless stack.
 */
export function requireNode(): void {
  const refusal = refuseRuntime(process.versions) ?? refuseNode(process.versions.node, engines.node);
  if (refusal === null) return;
  process.stderr.write(`${refusal}\n`);
  process.exit(1);
}

/** Bun and Deno name the version of Node that they stand in for. Under them Bellhop accepts tasks and never calls them. */
export function refuseRuntime({ bun, deno }: NodeJS.ProcessVersions): string | null {
  const other = bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : null;
  return other === null ? null : `Bellhop runs on Node, and this is ${other}. Start it with node.`;
}

export function refuseNode(running: string, range: string): string | null {
  const needed = range.replace(/^>=/, "");
  const [major = 0, minor = 0] = running.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.split(".").map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return null;
  return `Bellhop needs Node ${needed} or newer, and this is Node ${running}. Install a newer one: https://nodejs.org`;
}
