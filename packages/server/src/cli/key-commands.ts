import type { Command } from "commander";
import type { ApiKey } from "../domain/identity/api-key.ts";
import { type Operator, toJson } from "./operator.ts";
import { type Column, printable, renderTable } from "./table.ts";

export function addKeyCommands(program: Command, operator: Operator): void {
  const key = program.command("key").description("API keys of any team");

  key
    .command("list")
    .description("list the active keys of a team")
    .argument("<team>", "id or exact name")
    .option("--json", "print JSON")
    .action(async (team: string, { json }: { json?: true }) => {
      const apiKeys = await operator.work((database, { listOperatorsKeys }) =>
        listOperatorsKeys(database, team),
      );
      if (json) operator.print(toJson({ apiKeys }));
      else operator.print(describeKeys(apiKeys, operator.terminalWidth));
    });

  key
    .command("create")
    .description("create a key and print it once")
    .argument("<team>", "id or exact name")
    .argument("<name>", "what the key is for")
    .option("--test", "a sandbox key: its tasks are never called")
    .option("--json", "print JSON")
    .action(async (text: string, name: string, { test, json }: { test?: true; json?: true }) => {
      const environment = test ? "test" : "live";
      const { team, apiKey } = await operator.work((database, { createOperatorsKey }) =>
        createOperatorsKey(database, operator.userName, text, { name, environment }),
      );
      if (json) return operator.print(toJson({ apiKey }));
      operator.print(
        `The ${environment} key "${printable(apiKey.name)}" of ${printable(team)}, ${apiKey.id}:\n\n`,
      );
      operator.print(`  ${apiKey.key}\n\nIt is shown only once: Bellhop stores only its hash.\n`);
    });

  key
    .command("revoke")
    .description("revoke a key; every node refuses it within a second")
    .argument("<key_id>", "key_…, see bellhop key list")
    .action(async (keyId: string) => {
      const { team, apiKey } = await operator.work((database, { revokeOperatorsKey }) =>
        revokeOperatorsKey(database, operator.userName, keyId),
      );
      operator.print(`Revoked the key "${printable(apiKey.name)}" of ${printable(team)}, ${apiKey.id}\n`);
    });
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "KIND", of: ({ environment }) => environment },
  { title: "BEGINS WITH", of: ({ prefix }) => `${prefix}…` },
  { title: "CREATED", of: ({ createdAt }) => dayOf(createdAt) },
  { title: "LAST USED", of: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : dayOf(lastUsedAt)) },
  { title: "ID", of: ({ id }) => id },
];

export function describeKeys(apiKeys: readonly ApiKey[], terminalWidth: number | undefined): string {
  return apiKeys.length === 0 ? "No active API keys\n" : renderTable(COLUMNS, apiKeys, terminalWidth);
}

/** In UTC, as everywhere in Bellhop. */
export function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}
