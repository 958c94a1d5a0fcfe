// Words that a reader who knows queues would stumble over, with their replacements. Fails when a source or documentation
// file, or its name, contains one. Exempt are the changelog, the decision records and the migrations, which never change.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const BANNED = [
  ["house", "server, architecture", /(?<!in-)\bhouse\b/i],
  ["layGround", "openDatabase", /\blay-?ground/i],
  ["teller, telling thread", "event serializer", /\bteller\b|\btelling[- ]thread/i],
  ["put into words", "serialize", /\binto words\b/i],
  ["presence", "node heartbeat", /\bpresence\b/i],
  ["crew", "process group", /\bcrew\b/i],
  ["bury, buried", "remove a dead worker", /\bbur(y|ied)\b/i],
  ["anew", "again, restart, re-encrypt", /\banew\b/i],
  ["stand still", "is frozen", /\b(stands?|stood|standing) still\b/i],
  ["second look", "recheck", /\bsecond look\b/i],
  ["whoever", "the caller, a person who …", /\bwhoever\b/i],
  ["is well", "is healthy", /\b(is|are|all) well\b/i],
];

const EXEMPT = [
  /^CHANGELOG\.md$/,
  /^docs\/decisions\//,
  /\/store\/migrations\//,
  /^scripts\/banned-words\.mjs$/,
];
const READ = /\.(ts|tsx|mjs|css|md|ya?ml|service|conf)$/;
const SKIPPED = new Set(["node_modules", "dist", ".build", ".git", ".bellhop", "results"]);

/** One line per hit: file, line, word and replacement. */
export function findBannedWords(name, text) {
  if (EXEMPT.some((exempt) => exempt.test(name))) return [];
  return [name, ...text.split("\n")].flatMap((line, number) =>
    BANNED.filter(([, , pattern]) => pattern.test(line)).map(
      ([word, replacement]) => `${name}:${number}: "${word}" is not a standard term; use: ${replacement}`,
    ),
  );
}

function* filesIn(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (READ.test(entry.name)) yield path;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const complaints = [...filesIn(root)].flatMap((path) =>
    findBannedWords(relative(root, path), readFileSync(path, "utf8")),
  );
  if (complaints.length > 0) {
    console.error(complaints.join("\n"));
    process.exit(1);
  }
}
