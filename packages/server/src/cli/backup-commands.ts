import { join } from "node:path";
import type { Command } from "commander";
import { VERSION } from "../version.ts";
import { type Operator, toJson } from "./operator.ts";

/** Of the embedded database. One of the operator's own has its own ways. */
export function addBackupCommands(program: Command, { print }: Operator): void {
  program
    .command("backup")
    .description("copy the embedded database into a new directory, while the server runs")
    .argument("<directory>", "where to put it; it must not exist yet")
    .option("--json", "print JSON")
    .action(async (target: string, { json }: { json?: true }) => {
      const { dataDir: wanted } = await readEmbeddedConfig();
      const { withClusterAdmin } = await import("./operator-database.ts");
      const { backUpCluster } = await import("../postgres/backup.ts");
      const { KEY_FILE } = await import("../vault/key-file.ts");
      const made = await withClusterAdmin(wanted, async (admin, dataDir) => ({
        ...(await backUpCluster({ admin, pgdata: join(dataDir, "pgdata"), target, version: VERSION })),
        vaultKeys: join(dataDir, KEY_FILE),
      }));
      if (json) return print(toJson(made));
      print(`Backed up ${(made.bytes / 1e6).toFixed(1)} MB in ${made.files} files to ${made.path}\n`);
      print(
        `The vault keys are not in it: keep ${made.vaultKeys}, or the value of BELLHOP_VAULT_KEYS, apart from it. ` +
          "Without them nobody can decrypt the stored credentials and signing secrets.\n",
      );
    });

  program
    .command("restore")
    .description("put a backup into a data directory that has no database yet, and check that it starts")
    .argument("<directory>", "what bellhop backup made")
    .option("--json", "print JSON")
    .action(async (source: string, { json }: { json?: true }) => {
      const { dataDir: wanted } = await readEmbeddedConfig();
      const { restoreCluster } = await import("../postgres/restore.ts");
      const { KEY_FILE } = await import("../vault/key-file.ts");
      const { dataDir, stop } = await restoreCluster(source, wanted);
      await stop();
      if (json) return print(toJson({ dataDir, vaultKeys: join(dataDir, KEY_FILE) }));
      print(`Restored into ${dataDir}\n`);
      print(
        `Before the first start put the vault keys of that time into ${join(dataDir, KEY_FILE)}, or set BELLHOP_VAULT_KEYS. ` +
          "Tasks that ended after the backup are pending again and are called again.\n",
      );
    });
}

async function readEmbeddedConfig() {
  const { readConfig, ConfigError } = await import("../config.ts");
  const config = readConfig(process.env);
  if (config.databaseUrl !== null)
    throw new ConfigError(
      "DATABASE_URL is set: back that database up with its own tools, such as pg_dump (docs/production.md)",
    );
  return config;
}
