// Writes packages/server/src/postgres/checksums.ts from the packages of the embedded PostgreSQL, all platforms, as the
// registry has them now. Run it when their version changes, and compare what it writes with a second machine's: from then
// on every start compares with it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashFile, hashTree, PROGRAMS } from "../packages/server/dist/postgres/checksum.js";

const manifest = JSON.parse(
  readFileSync(new URL("../packages/server/package.json", import.meta.url), "utf8"),
);
const directory = mkdtempSync(join(tmpdir(), "bellhop-checksums-"));
const checksums = {};
try {
  for (const [name, version] of Object.entries(manifest.optionalDependencies)) {
    const platform = name.split("/")[1];
    const home = join(directory, platform);
    mkdirSync(home);
    const packed = execFileSync("npm", ["pack", "--silent", `${name}@${version}`], {
      cwd: home,
      encoding: "utf8",
    });
    execFileSync("tar", ["xzf", packed.trim()], { cwd: home });
    const native = join(home, "package", "native");
    const programs = {};
    for (const program of PROGRAMS) programs[program] = await hashFile(join(native, "bin", program));
    checksums[platform] = { version, tree: await hashTree(native), programs };
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

const text = `// Written by scripts/postgres-checksums.mjs: what the binaries of PostgreSQL are that this version was tested with.
import type { Checksums } from "./checksum.ts";

export const CHECKSUMS: Readonly<Record<string, Checksums>> = ${JSON.stringify(checksums, null, 2)};
`;
writeFileSync(new URL("../packages/server/src/postgres/checksums.ts", import.meta.url), text);
