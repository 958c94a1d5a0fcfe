import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The repository. Tests run as compiled, from a tree of their own inside it. */
export const ROOT = above(import.meta.dirname);

/** The server's package as a user has it: the build in `dist`, not the copy that tests import. */
export const SERVER = join(ROOT, "packages/server");

/** The built API reference. */
export const REFERENCE = join(SERVER, "dist", "reference");

const built = process.env["TEST_BUNDLE"] ?? join(SERVER, "dist");

/** The server and its command line to run: `dist`, or the bundle of it that the package has, which starts in half the time. */
export const MAIN = join(built, "main.js");
export const BELLHOP = join(built, "cli/bellhop.js");

/** For a process that makes few requests, as `scripts/test.mjs` gave it to this one. */
export const FETCH_FLAGS = process.execArgv.filter((flag) => flag.startsWith("--wasm-tiering-budget"));

function above(directory: string): string {
  return existsSync(join(directory, "package-lock.json")) ? directory : above(dirname(directory));
}
