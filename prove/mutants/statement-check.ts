import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { runCommand } from "../../tools/run-command.ts";

const LIST_SECONDS = 60;
/** A part of many statements is wrong in each of them, or in none. */
const MOST_CHECKED = 3;
const LIST = fileURLToPath(new URL("list-statements.mjs", import.meta.url));

/** Says whether PostgreSQL knows what to do with the statements of a build: a mutant that is no SQL is no bug. */
export interface StatementCheck {
  /** Its complaint about a statement that it accepts without the mutant; null where there is none. */
  refusal(directory: string): Promise<string | null>;
  stop(): Promise<void>;
}

/** `root` has the build without a mutant. The server is that of the tests. */
export async function startStatementCheck(root: string): Promise<StatementCheck> {
  const connection = JSON.parse(process.env["TEST_POSTGRES"] ?? "{}");
  const admin = new pg.Client(connection);
  await admin.connect();
  await admin.query("create database mutants template template_server");
  await admin.end();
  const client = new pg.Client({ ...connection, database: "mutants" });
  await client.connect();
  const originals = await listTexts(root);
  if (originals === null) throw new Error("The statements of the build without a mutant cannot be listed");

  async function prepare(text: string): Promise<string | null> {
    try {
      await client.query(`prepare mutant as ${text}`);
      await client.query("deallocate mutant");
      return null;
    } catch (error) {
      return String(error);
    }
  }

  return {
    async refusal(directory) {
      const mutants = await listTexts(directory);
      // It does not load: the tests say so.
      const changed = [...(mutants ?? [])].filter(([name, text]) => {
        const original = originals.get(name);
        return original !== undefined && original !== text;
      });
      for (const [name, text] of changed.slice(0, MOST_CHECKED)) {
        const original = originals.get(name) ?? "";
        const refusal = await prepare(text);
        if (refusal !== null && (await prepare(original)) === null) return `${name}: ${refusal}`;
      }
      return null;
    },
    stop: () => client.end(),
  };
}

/** The texts of all statements of a build that do not depend on a request, by name. */
async function listTexts(directory: string): Promise<Map<string, string> | null> {
  const { code, output } = await runCommand({
    command: process.execPath,
    args: [LIST, join(directory, ".build/packages/server/test/statement-list.js")],
    cwd: directory,
    seconds: LIST_SECONDS,
  });
  const line = output.split("\n").find((each) => each.startsWith("[["));
  return code === 0 && line !== undefined ? new Map(JSON.parse(line)) : null;
}

/** What tests that were ended have left. No test may run meanwhile. */
export async function dropTestDatabases(): Promise<void> {
  const client = new pg.Client(JSON.parse(process.env["TEST_POSTGRES"] ?? "{}"));
  await client.connect();
  const { rows } = await client.query(
    "select datname as name from pg_database where datname like 'test\\_%'",
  );
  for (const { name } of rows) await client.query(`drop database ${name} with (force)`);
  await client.end();
}
