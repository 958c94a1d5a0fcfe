import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { copyCheckout } from "../workspace.ts";

/** Where a copy has its compiled server: for tests and simulation, and for what starts it. */
const TREES = [".build/packages/server/src", "packages/server/dist"];

/** A copy of the compiled checkout in which one file at a time is another. */
export interface Build {
  readonly directory: string;
  /** Takes the file before out. Returns why the text is no TypeScript; null where it is. The sample has only what the compiler accepts. */
  put(file: string, source: string): Promise<string | null>;
  restore(): void;
}

export async function makeBuild(): Promise<Build> {
  const directory = await copyCheckout();
  let originals: readonly (readonly [path: string, text: string])[] = [];
  function restore(): void {
    for (const [path, text] of originals) writeFileSync(path, text);
    originals = [];
  }
  return {
    directory,
    async put(file, source) {
      restore();
      try {
        const text = await compile(source);
        const paths = TREES.map((tree) => join(directory, tree, file.replace(/ts$/, "js")));
        originals = paths.map((path) => [path, readFileSync(path, "utf8")]);
        for (const path of paths) writeFileSync(path, text);
        return null;
      } catch (error) {
        return String(error);
      }
    },
    restore,
  };
}

/** As the compiler does it, in a thousandth of the time. */
export async function compile(source: string): Promise<string> {
  const { code } = await transform(source, {
    loader: "ts",
    format: "esm",
    target: "es2023",
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return code.replace(/((?:from|import)\s*\(?\s*"\.[^"]*)\.ts"/g, '$1.js"');
}
