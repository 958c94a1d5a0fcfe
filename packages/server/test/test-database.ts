import { randomBytes } from "node:crypto";
import pg from "pg";
import { createDatabase } from "../src/postgres/database.ts";
import { createPool } from "../src/postgres/pool.ts";
import type { Database } from "../src/store/sql.ts";

/** A busy machine must not fail a test that is not about time. */
const PATIENCE_MS = 60_000;

export interface TestDatabase {
  readonly database: Database;
  readonly connection: { host: string; port: number; user: "bellhop"; database: "bellhop" };
  /** A further set of connections, so that one part cannot wait for another's. */
  open(max: number): Database;
  drop(): Promise<void>;
}

/** A database of one's own on the engine that `npm test` started, cloned from the migrated template. */
export async function createTestDatabase(options: { template?: string } = {}): Promise<TestDatabase> {
  const server = readServer();
  const name = `test_${randomBytes(6).toString("hex")}`;
  await onServer(server, `create database ${name} template ${options.template ?? "template_house"}`);
  // The type knows only the name of the embedded database; a test's is one of many on the same server.
  const connection = { ...server, database: name as "bellhop" };
  const pools: pg.Pool[] = [];
  const open = (max: number) => {
    const pool = createPool(connection, { max, applicationName: "test", onError: () => {} });
    pools.push(pool);
    return createDatabase(pool, PATIENCE_MS);
  };
  return {
    database: open(4),
    connection,
    open,
    async drop() {
      await Promise.all(pools.map((pool) => pool.end()));
      await onServer(server, `drop database ${name} with (force)`);
    },
  };
}

function readServer(): TestDatabase["connection"] {
  const text = process.env["TEST_POSTGRES"];
  if (text === undefined) throw new Error("Run the tests by `npm test`, or `node scripts/test.mjs <file>`");
  return JSON.parse(text);
}

async function onServer(server: TestDatabase["connection"], statement: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
