// Before `npm pack` in packages/server: a build of exactly the source that is there, and the two pages that every
// package shows.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = join(root, "packages", "server");

execFileSync(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-b"], { cwd: root });
for (const name of readdirSync(join(server, "dist"), { recursive: true }).map(String)) {
  const source = join(server, "src", name.replace(/\.js(\.map)?$/, ".ts"));
  // What a file left behind that was renamed or removed since.
  if (/\.js(\.map)?$/.test(name) && !existsSync(source)) rmSync(join(server, "dist", name));
}
for (const page of ["README.md", "LICENSE"]) copyFileSync(join(root, page), join(server, page));
