// Loaded into the process of a test file: keeps the texts that the process sends to PostgreSQL, and writes them at its end.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

const directory = process.env.MUTANT_TEXTS;
const texts = new Set();
const send = pg.Client.prototype.query;

pg.Client.prototype.query = function query(given, ...rest) {
  const text = typeof given === "string" ? given : given?.text;
  if (typeof text === "string") texts.add(text);
  return send.call(this, given, ...rest);
};

process.on("exit", () => {
  if (directory !== undefined && texts.size > 0)
    writeFileSync(join(directory, `texts-${randomUUID()}.json`), JSON.stringify([...texts]));
});
