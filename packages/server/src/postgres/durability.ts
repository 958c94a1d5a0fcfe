import { type Sql, statement } from "../store/sql.ts";

export type DurabilityFacts = {
  versionNum: number;
  version: string;
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
};

/** PostgreSQL 13 is past its end of life, and our statements are tested on 14 and newer. */
const OLDEST_VERSION_NUM = 140_000;

/** Refuses a database that could lose an accepted task. With `allowUnsafe` it only returns the reasons, for the log. */
export async function assertDurable(sql: Sql, { allowUnsafe }: { allowUnsafe: boolean }): Promise<string[]> {
  const dangers = findDangers(await readFacts(sql));
  if (dangers.length > 0 && !allowUnsafe) throw new Error(dangers.join(" "));
  return dangers;
}

const READ_DURABILITY = statement(
  "read_durability",
  `select current_setting('server_version_num')::int as "versionNum",
          current_setting('server_version') as "version",
          current_setting('fsync') as "fsync",
          current_setting('full_page_writes') as "fullPageWrites",
          current_setting('synchronous_commit') as "synchronousCommit"`,
);

async function readFacts(sql: Sql): Promise<DurabilityFacts> {
  const [facts] = await sql.rows<DurabilityFacts>(READ_DURABILITY);
  if (facts === undefined) throw new Error("PostgreSQL did not tell its settings.");
  return facts;
}

export function findDangers(facts: DurabilityFacts): string[] {
  const dangers: string[] = [];
  if (facts.versionNum < OLDEST_VERSION_NUM) {
    dangers.push(`PostgreSQL ${facts.version} is too old for Bellhop: use PostgreSQL 14 or newer.`);
  }
  if (facts.fsync === "off") {
    dangers.push(
      "PostgreSQL runs with fsync = off: a power cut can lose accepted tasks and corrupt the database. Set fsync = on.",
    );
  }
  if (facts.fullPageWrites === "off") {
    dangers.push(
      "PostgreSQL runs with full_page_writes = off: a power cut can corrupt the database. Set full_page_writes = on.",
    );
  }
  if (facts.synchronousCommit === "off") {
    dangers.push(
      "PostgreSQL runs with synchronous_commit = off: a crash can lose accepted tasks. " +
        "Set synchronous_commit = on for the server, and for the role and the database that Bellhop uses.",
    );
  }
  return dangers;
}

const READ_REPLICATION = statement(
  "read_replication",
  `select current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as commit`,
);

/**
 * What a failover would lose, for the log: not a reason to refuse, because a server that has just taken over is alone
 * at first.
 */
export async function findReplicationDanger(sql: Sql): Promise<string | null> {
  const [facts] = await sql.rows<{ names: string; commit: string }>(READ_REPLICATION);
  const waits = facts !== undefined && facts.names !== "" && !["off", "local"].includes(facts.commit);
  return waits
    ? null
    : "DATABASE_URL names several servers, and the one in use waits for none of the others before it confirms: a failover " +
        "can lose accepted tasks. Set synchronous_standby_names, and synchronous_commit = on.";
}
