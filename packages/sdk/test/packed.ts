import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../server/test/places.ts";

const run = promisify(execFile);

/** The package as npm would publish it, installed into a directory that has nothing else. */
export async function installPacked(home: string): Promise<string> {
  const installed = join(home, "node_modules", "@bellhop", "sdk");
  await mkdir(installed, { recursive: true });
  await run("npm", ["pack", "--silent", "--ignore-scripts=false", `--pack-destination=${home}`], {
    cwd: join(ROOT, "packages/sdk"),
  });
  const [tarball = ""] = (await readdir(home)).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["xzf", join(home, tarball), "-C", installed, "--strip-components=1"]);
  return installed;
}

/** One that was free a moment ago. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return String(port);
}

export interface PageExample {
  readonly promise: string;
  readonly source: string;
}

/** The page's code, in order; all of it must be marked to run. */
export async function examplesOf(page: string): Promise<PageExample[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/(?:<!-- runs: prints (.+) -->\n)?```ts\n([\s\S]*?)```/g)];
  return blocks.map(([, promise, source = ""]) => {
    if (promise === undefined) throw new Error(`${page} has code that is not run: ${source}`);
    return { promise, source };
  });
}

/** Compiles them as a strict user would, the package's own declarations included. */
export async function compile(home: string, sources: readonly string[]): Promise<string[]> {
  const options = {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: ["node"],
    outDir: "out",
  };
  await mkdir(join(home, "node_modules", "@types"));
  for (const name of ["@types/node", "undici-types"]) {
    await symlink(join(ROOT, "node_modules", name), join(home, "node_modules", name));
  }
  await writeFile(join(home, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(home, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["*.ts"] }),
  );
  for (const [index, source] of sources.entries()) await writeFile(join(home, `example${index}.ts`), source);
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, "-p", home]).catch(({ stdout }) => {
    throw new Error(`The examples do not compile:\n${stdout}`);
  });
  return sources.map((_, index) => join(home, "out", `example${index}.js`));
}

export async function runExample(file: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, [file], { env: { PATH: process.env.PATH ?? "", ...env } });
  return stdout.replaceAll("\n", " ");
}
