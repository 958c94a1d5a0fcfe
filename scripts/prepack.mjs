// Before `npm pack` in a built package: removes the outputs of deleted sources from its dist, and copies the named pages of the
// repository into it.
import { copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const here = process.cwd();
/** The dashboard, the documentation, the API reference and the bundle, which builds of their own leave there. */
const BUILT_APART = /^(page|help|reference|bundle)\//;
const OUTPUT = /\.(d\.ts|js|js\.map)$/;

for (const name of readdirSync(join(here, "dist"), { recursive: true }).map(String)) {
  const source = join(here, "src", name.replace(OUTPUT, ".ts"));
  // What a file left behind that was renamed or removed since.
  if (OUTPUT.test(name) && !BUILT_APART.test(name) && !existsSync(source)) rmSync(join(here, "dist", name));
}
for (const page of process.argv.slice(2)) copyFileSync(join(root, page), join(here, page));
