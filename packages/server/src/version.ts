import { readFileSync } from "node:fs";

/** From package.json, the only place to change it. */
const { version, engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

export const VERSION: string = version;

/**
 * Exits with a message on an old Node. The entry files import everything else after this: an old Node would fail on the
 * imports with a useless stack.
 */
export function requireNode(): void {
  const refusal = refuseNode(process.versions.node, engines.node);
  if (refusal === null) return;
  process.stderr.write(`${refusal}\n`);
  process.exit(1);
}

export function refuseNode(running: string, range: string): string | null {
  const needed = range.replace(/^>=/, "");
  const [major = 0, minor = 0] = running.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.split(".").map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return null;
  return `Bellhop needs Node ${needed} or newer, and this is Node ${running}. Install a newer one: https://nodejs.org`;
}
