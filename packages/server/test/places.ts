import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The repository. Tests run as compiled, from a tree of their own inside it. */
export const ROOT = above(import.meta.dirname);

/** The server's package as a user has it: the build in `dist`, not the copy that tests import. */
export const SERVER = join(ROOT, "packages/server");

function above(directory: string): string {
  return existsSync(join(directory, "package-lock.json")) ? directory : above(dirname(directory));
}
