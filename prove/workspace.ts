import { cpSync, rmSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../tools/run-command.ts";
import { type Plant, plantInto } from "./plant.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Neither needed for a compile or a test, nor small. */
const LEFT_OUT = ["node_modules", ".git", ".bellhop"];
/** What is kept of mutants, which nothing in a copy reads. */
const KEPT = join(ROOT, ".build/mutants");
const COMPILE_SECONDS = 180;

/** A copy of the checkout: bugs are planted there, never in the checkout itself. */
export interface Workspace {
  readonly directory: string;
  /** The compiler's complaint, or null where the planted copy compiles. Takes the plant before it out. */
  plant(plant: Plant | null): Promise<string | null>;
  remove(): Promise<void>;
}

/** Tests read what the compiler leaves alone. */
export async function completeBuild(): Promise<void> {
  for (const name of await readdir(join(ROOT, "packages")))
    cpSync(join(ROOT, "packages", name, "package.json"), join(ROOT, ".build/packages", name, "package.json"));
}

/** A copy as it is compiled, removed at the end of the process. */
export async function copyCheckout(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "bellhop-prove-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  await completeBuild();
  for (const name of await readdir(ROOT)) {
    if (!LEFT_OUT.includes(name))
      cpSync(join(ROOT, name), join(directory, name), {
        recursive: true,
        preserveTimestamps: true,
        filter: (path) => path !== KEPT,
      });
  }
  await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
  return directory;
}

export async function makeWorkspace(): Promise<Workspace> {
  const directory = await copyCheckout();
  await allowUnused(directory);
  let restore = async () => {};
  let touched: readonly string[] = [];
  return {
    directory,
    async plant(plant) {
      await restore();
      if (plant !== null) {
        const path = join(directory, "packages/server/src", plant.file);
        const source = await readFile(path, "utf8");
        await writeFile(path, plantInto(source, plant));
        restore = () => writeFile(path, source);
      }
      const { code, output } = await runCommand({
        command: process.execPath,
        args: ["node_modules/typescript/bin/tsc", "-b", "packages/server"],
        cwd: directory,
        seconds: COMPILE_SECONDS,
      });
      if (code !== 0) return output;
      // Tests import a copy of the build: the compiler makes the same of both, and this is faster than to ask it again.
      const copies = [...touched, ...(plant === null ? [] : [plant.file])].map((file) =>
        file.replace(/ts$/, "js"),
      );
      for (const file of copies)
        cpSync(
          join(directory, "packages/server/dist", file),
          join(directory, ".build/packages/server/src", file),
        );
      touched = plant === null ? [] : [plant.file];
      return null;
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A plant that takes the last use of a name away is a bug all the same. */
async function allowUnused(directory: string): Promise<void> {
  const path = join(directory, "tsconfig.base.json");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace(/"(noUnused\w+)": true/g, '"$1": false'));
}
