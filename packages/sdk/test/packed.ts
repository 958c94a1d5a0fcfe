import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../server/test/places.ts";

const run = promisify(execFile);

/** What the package is made of. */
const PARTS = ["LICENSE", "tsconfig.base.json", "scripts/prepack.mjs", "packages/sdk"];

let packing: Promise<string> | undefined;

/** The package as npm would publish it. All tests of this process use one, which goes with the other files of the run. */
export function pack(): Promise<string> {
  packing ??= makePackage();
  return packing;
}

/** From a copy of its sources: packing builds in place, and tests of other files read, or make, the same build meanwhile. */
async function makePackage(): Promise<string> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "bellhop-packed-")));
  const copy = join(home, "checkout");
  const isSource = (path: string) => !["dist", "node_modules"].includes(basename(path));
  for (const part of PARTS)
    await cp(join(ROOT, part), join(copy, part), { recursive: true, filter: isSource });
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  await run("npm", ["pack", "--silent", "--ignore-scripts=false", `--pack-destination=${home}`], {
    cwd: join(copy, "packages/sdk"),
  });
  const [tarball = ""] = (await readdir(home)).filter((name) => name.endsWith(".tgz"));
  return join(home, tarball);
}

/** Installs a package that was packed into a project, and gives its place. */
export async function install(tarball: string, project: string): Promise<string> {
  const installed = join(project, "node_modules", "@bellhop", "sdk");
  await mkdir(installed, { recursive: true });
  await run("tar", ["xzf", tarball, "-C", installed, "--strip-components=1"]);
  return installed;
}

export interface PageExample {
  readonly promise: string;
  readonly source: string;
}

/** The page's code, in order, with another port than 9000; all of it must be marked to run. */
export async function examplesOf(page: string, port: string): Promise<PageExample[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/(?:<!-- runs: prints (.+) -->\n)?```ts\n([\s\S]*?)```/g)];
  return blocks.map(([, promise, source = ""]) => {
    if (promise === undefined) throw new Error(`${page} has code that is not run: ${source}`);
    return { promise, source: source.replace(/(127\.0\.0\.1:|listen\()9000/g, `$1${port}`) };
  });
}

/** How a user's project is set up. */
export interface Project {
  readonly type: "module" | "commonjs";
  /** Packages of this repository that the project has installed too. */
  readonly packages?: readonly string[];
  readonly compiler?: "node_modules/typescript" | "packages/sdk/node_modules/typescript";
  readonly options?: Record<string, unknown>;
}

/**
 * Compiles sources, by name, as a strict user would, the declarations of all packages included. The outputs are in `out`,
 * under the same names.
 */
export async function compile(
  home: string,
  project: Project,
  sources: Record<string, string>,
): Promise<void> {
  const { type, packages = [], compiler = "node_modules/typescript" } = project;
  const options = {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    types: ["node"],
    rootDir: ".",
    outDir: "out",
    ...project.options,
  };
  for (const name of ["@types", "undici-types", ...packages]) {
    const link = join(home, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), link).catch(ifThere);
  }
  await writeFile(join(home, "package.json"), JSON.stringify({ type }));
  await writeFile(
    join(home, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["*.ts"] }),
  );
  for (const [name, source] of Object.entries(sources)) await writeFile(join(home, `${name}.ts`), source);
  await run(process.execPath, [join(ROOT, compiler, "bin/tsc"), "-p", home]).catch(({ stdout }) => {
    throw new Error(`The sources do not compile:\n${stdout}`);
  });
}

function ifThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

export async function runExample(file: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, [file], { env: { PATH: process.env.PATH ?? "", ...env } });
  return stdout.replaceAll("\n", " ");
}
