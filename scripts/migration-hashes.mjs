// A migration that has run somewhere must never change: a database that has the old text would go another way than one that
// gets the new. `hashes.txt` holds the hash of each, one line each: version, hash, name. New ones are added to it, and a line
// is never changed or removed.
import { hashOf } from "../packages/server/dist/store/migration-history.js";

export const HASHES = "packages/server/src/store/migrations/hashes.txt";

/** The lines for `migrations`. Throws where one of `committed` is not among them. */
export function migrationHashes(migrations, committed) {
  const lines = migrations.map(
    (migration) => `${String(migration.version).padStart(4, "0")} ${hashOf(migration)} ${migration.name}`,
  );
  const changed = committed.split("\n").filter((line) => line !== "" && !lines.includes(line));
  if (changed.length > 0)
    throw new Error(
      `These migrations of ${HASHES} were changed or removed:\n${changed.join("\n")}\n` +
        "Undo that, and write a new migration instead. One that was never pushed: remove its line, then npm run generate.",
    );
  return `${lines.join("\n")}\n`;
}
