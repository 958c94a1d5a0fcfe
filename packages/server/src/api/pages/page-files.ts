import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, sep } from "node:path";
import type { Coding } from "../http/answer-cache.ts";

/** One built file of the dashboard with its compressed forms, as it is sent. */
export interface PageFile {
  readonly type: string;
  /** Of the bytes without compression. */
  readonly tag: string;
  /** Its name changes with its bytes: a browser may keep it for good. */
  readonly isImmutable: boolean;
  readonly plain: Buffer;
  readonly compressed: ReadonlyMap<Coding, Buffer>;
}

/** The built dashboard. */
export interface PageFiles {
  readonly index: PageFile;
  /** By path, beginning with a slash. */
  readonly files: ReadonlyMap<string, PageFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};
const CODINGS: readonly (readonly [Coding, string])[] = [
  ["br", ".br"],
  ["gzip", ".gz"],
];
const INDEX = "index.html";
/** Vite puts files there whose names hold a hash of their bytes. */
const HASHED = "/assets/";

/** Reads them all, once: the dashboard is a few hundred kB. Null where it is not built. */
export function readPageFiles(directory: string): PageFiles | null {
  if (!existsSync(join(directory, INDEX))) return null;
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const type = TYPES[extname(name)];
    const file = join(directory, name);
    if (type === undefined || !statSync(file).isFile()) continue;
    const path = `/${name.split(sep).join("/")}`;
    const plain = readFileSync(file);
    const compressed = new Map<Coding, Buffer>();
    for (const [coding, ending] of CODINGS)
      if (existsSync(file + ending)) compressed.set(coding, readFileSync(file + ending));
    files.set(path, { type, tag: tagOf(plain), isImmutable: path.startsWith(HASHED), plain, compressed });
  }
  const index = files.get(`/${INDEX}`);
  files.delete(`/${INDEX}`);
  return index === undefined ? null : { index, files };
}

function tagOf(bytes: Buffer): string {
  return `"${createHash("sha256").update(bytes).digest("base64url")}"`;
}
