import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CANARY, LITERAL_HEADER } from "../checker/vault.ts";
import type { Leak } from "../checker/vault-record.ts";
import type { Postgres } from "./postgres.ts";

/** As it is, in hexadecimal, as PostgreSQL writes bytes, and in base64, which has another text for each of three places. */
const FORMS = [
  CANARY,
  Buffer.from(CANARY).toString("hex"),
  ...[0, 1, 2].map((ahead) => {
    const text = Buffer.from(" ".repeat(ahead) + CANARY).toString("base64");
    return text.slice(ahead === 0 ? 0 : 4, Math.floor(text.length / 4) * 4 - 4);
  }),
];

export function hasCredential(text: string): boolean {
  return FORMS.some((form) => text.includes(form));
}

/** Of a request: what has to do with credentials, or is looked at beside them. A body with a credential is like a header. */
export function headersToNote(
  headers: Readonly<Record<string, unknown>>,
  body: string,
): { headers?: Readonly<Record<string, string>> } {
  const noted = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const text = String(value);
    return name === LITERAL_HEADER || text.includes("tok_") || hasCredential(text) ? [[name, text]] : [];
  });
  if (hasCredential(body)) noted.push(["body", body]);
  return noted.length === 0 ? {} : { headers: Object.fromEntries(noted) };
}

/** Every line of every log. */
export async function leaksInLogs(directory: string): Promise<Leak[]> {
  const leaks: Leak[] = [];
  for (const name of await readdir(directory))
    for await (const line of createInterface({ input: createReadStream(join(directory, name)) }))
      if (hasCredential(line)) leaks.push({ where: `${name}: ${line.slice(0, 300)}`, at: null });
  return leaks;
}

/** Every row of every table of Bellhop, as a dump has them. */
export async function leaksInDatabase(postgres: Postgres): Promise<Leak[]> {
  const tables = await postgres.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema', 'chaos')`,
  );
  const leaks: Leak[] = [];
  for (const { name } of tables)
    for (const { row } of await postgres.query<{ row: string }>(`select t::text as row from ${name} t`))
      if (hasCredential(row)) leaks.push({ where: `a row of ${name}: ${row.slice(0, 300)}`, at: null });
  return leaks;
}
