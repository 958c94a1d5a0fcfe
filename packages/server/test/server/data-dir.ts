import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A data directory as the start before left it, migrated and with nothing stored yet: to make a new one takes seconds. */
export async function copyDataDir(): Promise<string> {
  const source = process.env["TEST_DATA_DIR"];
  if (source === undefined) throw new Error("Run the tests by `npm test`, or `node scripts/test.mjs <file>`");
  const copy = await mkdtemp(join(tmpdir(), "bellhop-data-"));
  // With its owners and modes: PostgreSQL runs as another user where the tests run as root.
  await promisify(execFile)("cp", ["-a", `${source}/.`, copy]);
  return copy;
}
