import type { Command } from "commander";
import type { Bellhop } from "../sdk.ts";
import { type Column, printable } from "../table.ts";
import { collect } from "./option-values.ts";
import { readSecret } from "./read-secret.ts";
import { given, type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

type Key = Awaited<ReturnType<Bellhop["apiKeys"]["list"]>>[number];

/** Into the group of the operator's own vault commands, which work on the server's machine. */
export function addVaultAdd(program: Command, user: User): void {
  const vault = program.commands.find((command) => command.name() === "vault") ?? program.command("vault");
  serverCommand(
    vault,
    "add",
    "store a credential through a server's API; enter it at the prompt or pipe it in",
  )
    .argument("<name>", "what it is for")
    .option("--host <host>", "allowed host; may be repeated", collect)
    .action(async (name: string, { host, ...options }: ServerOptions & { host?: readonly string[] }) => {
      const client = await user.client(options);
      const value = await readSecret("Credential");
      const token = await client.tokens.create({
        name,
        value,
        ...given({ allowedHosts: host === undefined ? undefined : [...host] }),
      });
      show(user, options, token, ({ id }) => `${id}\n`);
    });
}

export function addKeysCommands(program: Command, user: User): void {
  const keys = program.command("keys").description("API keys of your own team");

  serverCommand(keys, "list", "list the active keys").action(async (options: ServerOptions) => {
    const found = await (await user.client(options)).apiKeys.list();
    showRows(user, options, found, { columns: COLUMNS, none: "No active API keys" });
  });

  serverCommand(keys, "create", "create a key and print it once")
    .argument("<name>", "what it is for")
    .option("--test", "a sandbox key: its tasks are never called")
    .action(async (name: string, { test, ...options }: ServerOptions & { test?: true }) => {
      const environment = test ? "test" : "live";
      const made = await (await user.client(options)).apiKeys.create({ name, environment });
      show(user, options, made, ({ key }) => `${key}\n`);
    });

  serverCommand(keys, "revoke", "revoke a key; every node refuses it within a second")
    .argument("<key_id>", "key_…, see bellhop keys list")
    .action(async (id: string, options: ServerOptions) => {
      const revoked = await (await user.client(options)).apiKeys.revoke(id);
      show(user, options, revoked, () => `Revoked ${printable(id)}\n`);
    });
}

const COLUMNS: readonly Column<Key>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "KIND", of: ({ environment }) => environment },
  { title: "BEGINS WITH", of: ({ prefix }) => `${prefix}…` },
  { title: "CREATED", of: ({ createdAt }) => timeOf(createdAt) },
  { title: "LAST USED", of: ({ lastUsedAt }) => timeOf(lastUsedAt) || "never" },
  { title: "ID", of: ({ id }) => id },
];
