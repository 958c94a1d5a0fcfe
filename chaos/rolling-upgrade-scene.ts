import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endAtExit } from "../tools/ending.ts";
import { copyServer } from "./rig/plants.ts";
import { createPostgres } from "./rig/postgres.ts";
import { type RollingUpgradeVerdict, runRollingUpgrade } from "./rolling-upgrade.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const HASHES = "packages/server/src/store/migrations/hashes.txt";

/** The commit does not have the first migration of this checkout. */
export class NoUpgradePath extends Error {
  constructor(ref: string) {
    super(
      `The schema of ${ref} does not begin with the baseline of this checkout, so its databases cannot be brought up to date: ` +
        "name a commit from the baseline on.",
    );
  }
}

/** From the build of a commit to the one of this checkout, on a PostgreSQL of its own. */
export async function runUpgradeFrom(options: {
  readonly ref: string;
  readonly distDir: string;
  readonly seconds: number;
  readonly say: (line: string) => void;
}): Promise<RollingUpgradeVerdict> {
  const { ref, distDir, seconds, say } = options;
  const directory = await mkdtemp(join(tmpdir(), "bellhop-upgrade-"));
  // As root, PostgreSQL runs under another user, which has to be able to enter.
  chmodSync(directory, 0o755);
  endAtExit(() => rmSync(directory, { recursive: true, force: true }));
  const dataDir = join(directory, "data");
  await mkdir(dataDir);
  chmodSync(dataDir, 0o711);
  const old = await buildCommit(ref, join(directory, "old"), say);
  try {
    const to = await copyServer(distDir, join(directory, "new"), null);
    const postgres = await createPostgres({ dataDir, settings: {}, log: () => {} });
    await postgres.start();
    const { connection } = postgres;
    return await runRollingUpgrade({ connection, from: old.main, to, directory, seconds, say }).finally(
      postgres.stop,
    );
  } finally {
    old.remove();
  }
}

/** Whether the commit has the first migration of this checkout. */
function hasBaseline(commit: string): boolean {
  const [baseline = ""] = readFileSync(join(ROOT, HASHES), "utf8").split("\n");
  const args = ["-C", ROOT, "grep", "--quiet", "--fixed-strings", "-e", baseline, commit, "--", HASHES];
  return spawnSync("git", args).status === 0;
}

/** In a worktree of its own, with the packages that are installed here. */
async function buildCommit(ref: string, worktree: string, say: (line: string) => void) {
  const git = (...args: string[]) => execFileSync("git", ["-C", ROOT, ...args], { encoding: "utf8" }).trim();
  const commit = git("rev-parse", "--verify", `${ref}^{commit}`);
  if (!hasBaseline(commit)) throw new NoUpgradePath(ref);
  git("worktree", "add", "--detach", worktree, commit);
  const remove = () => void git("worktree", "remove", "--force", worktree);
  try {
    say(`building ${git("log", "-1", "--format=%h %s", commit)}`);
    await symlink(join(ROOT, "node_modules"), join(worktree, "node_modules"));
    const compiler = join(ROOT, "node_modules", ".bin", "tsc");
    execFileSync(compiler, ["-b", "packages/server"], { cwd: worktree, stdio: "inherit" });
  } catch (error) {
    remove();
    throw error;
  }
  return { main: join(worktree, "packages/server/dist/main.js"), remove };
}
