// Compares the committed openapi.json with what the route schemas say now; `--write` brings it up to date.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const committed = `${root}openapi.json`;

const current = execFileSync(
  process.execPath,
  ["--import", "tsx", "packages/server/src/api/print-openapi.ts"],
  { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
);

if (process.argv.includes("--write")) {
  writeFileSync(committed, current);
} else if (read(committed) !== current) {
  console.error("openapi.json is not what the routes say: run npm run openapi");
  process.exitCode = 1;
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw error;
  }
}
