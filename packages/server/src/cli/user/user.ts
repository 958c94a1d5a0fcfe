import type { Command } from "commander";
import { toJson } from "../operator.ts";
import { type Bellhop, createBellhop } from "../sdk.ts";
import { type Column, renderTable } from "../table.ts";
import { type Chosen, chooseServer } from "./choose-server.ts";
import { pick } from "./pick.ts";
import { profilesFile, readProfiles } from "./profiles.ts";

/** Options of every command that talks to a server. */
export interface ServerOptions {
  readonly profile?: string;
  readonly json?: true;
  readonly pick?: string;
}

/** The terminal and the client of commands that use a server's API. */
export interface User {
  readonly file: string;
  readonly terminalWidth: number | undefined;
  choose(options: ServerOptions): Promise<Chosen>;
  client(options: ServerOptions): Promise<Bellhop>;
  print(text: string): void;
  /** Prints progress on stderr of a terminal; it is not part of the output. */
  tell(text: string): void;
}

export function createUser(): User {
  const file = profilesFile(process.env);
  const choose = async ({ profile }: ServerOptions) =>
    chooseServer(process.env, await readProfiles(file), profile);
  return {
    file,
    terminalWidth: process.stdout.columns,
    choose,
    async client(options) {
      const { url, apiKey } = await choose(options);
      return createBellhop({ url, apiKey });
    },
    print(text) {
      process.stdout.write(text);
    },
    tell(text) {
      if (process.stderr.isTTY) process.stderr.write(text);
    },
  };
}

export function serverCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option("--profile <name>", "profile of the server, from bellhop login")
    .option("--json", "print JSON")
    .option(
      "--pick <path>",
      "print one field of the JSON, such as task.id; of a list, the field of each item",
    );
}

export function show<Value>(
  { print }: User,
  { json, pick: path }: ServerOptions,
  value: Value,
  describe: (value: Value) => string,
): void {
  if (path !== undefined) print(pick(value, path));
  else print(json ? toJson(value) : describe(value));
}

export function showRows<Row>(
  user: User,
  options: ServerOptions,
  rows: readonly Row[],
  { columns, none }: { readonly columns: readonly Column<Row>[]; readonly none: string },
): void {
  show(user, options, rows, () =>
    rows.length === 0 ? `${none}\n` : renderTable(columns, rows, user.terminalWidth),
  );
}

/** Drops the fields that are undefined. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}

/** In UTC, to the second. */
export function timeOf(instant: string | null | undefined): string {
  return instant ? instant.replace("T", " ").replace(/\.\d+Z$/, "") : "";
}
