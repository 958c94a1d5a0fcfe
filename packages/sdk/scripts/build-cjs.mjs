// Writes dist/cjs, the build that `require` gets: the same sources, and a package.json that says what they are.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

execFileSync(process.execPath, [tsc, "-p", "tsconfig.cjs.json"], { cwd: here, stdio: "inherit" });
writeFileSync(`${here}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
