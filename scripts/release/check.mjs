// What may be in a package, and whether tools that read packages understand it.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPackageFromTarballData, checkPackage as findTypeProblems } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const RULES = {
  bellhop: {
    needed: [
      "LICENSE",
      "README.md",
      "THIRD-PARTY-NOTICES",
      "package.json",
      "dist/bundle/cli/bellhop.js",
      "dist/bundle/main.js",
      "dist/page/index.html",
      "dist/help/index.html",
      "dist/reference/index.html",
    ],
    allowed:
      /^(LICENSE|README\.md|THIRD-PARTY-NOTICES|package\.json|dist\/(page|help|reference)\/[^.].*|dist\/bundle\/.+\.js)$/,
  },
  "@bellhop/sdk": {
    needed: ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/cjs/index.js"],
    allowed: /^(LICENSE|README\.md|package\.json|dist\/cjs\/package\.json|dist\/.+\.(js|d\.ts))$/,
  },
};

/** The files of a tarball by their path in the package. */
export async function listFiles(tarball) {
  const directory = await mkdtemp(join(tmpdir(), "bellhop-release-"));
  try {
    execFileSync("tar", ["xzf", tarball, "-C", directory, "--strip-components=1"]);
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = new Map();
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name);
      files.set(path.slice(directory.length + 1), await readFile(path));
    }
    return files;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What is missing, what does not belong there, and files that name a directory of the machine that packed them. */
export function checkContents(name, files, checkout) {
  const { needed, allowed } = RULES[name];
  const missing = needed.filter((path) => !files.has(path)).map((path) => `${path} is missing`);
  const foreign = [...files.keys()]
    .filter((path) => !allowed.test(path))
    .map((path) => `${path} does not belong in it`);
  const here = checkout.replace(/\/$/, "");
  const local = [...files]
    .filter(([, bytes]) => bytes.includes(here))
    .map(([path]) => `${path} names ${here}`);
  return [...missing, ...foreign, ...local];
}

export async function lint(tarball) {
  const { messages, pkg } = await publint({
    pack: { tarball: toArrayBuffer(readFileSync(tarball)) },
    strict: true,
  });
  return messages
    .filter(({ type }) => type !== "suggestion")
    .map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`);
}

/** `are-the-types-wrong`: whether every way to import the package finds the types that belong to the code. */
export async function checkTypes(tarball) {
  const { problems } = await findTypeProblems(createPackageFromTarballData(readFileSync(tarball)));
  return problems.map((problem) => `are-the-types-wrong: ${JSON.stringify(problem)}`);
}

function toArrayBuffer(bytes) {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}
