import { randomBytes } from "node:crypto";
import pg from "pg";
import { createDatabase } from "../src/postgres/database.ts";
import { PLANNER } from "../src/postgres/planner.ts";
import { createPool } from "../src/postgres/pool.ts";
import { acceptText, type TextDatabase } from "./test-sql.ts";

/** A busy machine must not fail a test that is not about time. */
const PATIENCE_MS = 60_000;

/** Connections of the test itself. */
const OWN = 4;

export interface TestDatabase {
  readonly database: TextDatabase;
  readonly connection: { host: string; port: number; user: "bellhop"; database: "bellhop" };
  /** A further set of connections, so that one part cannot wait for another's. */
  open(max: number): TextDatabase;
  /** The same with new connections, which go by what was set for the database meanwhile. */
  openAnew(max: number): TextDatabase;
  drop(): Promise<void>;
}

/** A database of one's own on the engine that `npm test` started, cloned from the migrated template. */
export async function createTestDatabase(options: { template?: string } = {}): Promise<TestDatabase> {
  const server = testServer();
  const name = `test_${randomBytes(6).toString("hex")}`;
  // The other strategy writes every page of it to the log: nine times the work.
  const template = options.template ?? "template_server";
  await onServer(server, `create database ${name} template ${template} strategy file_copy`);
  // The type knows only the name of the embedded database; a test's is one of many on the same server.
  const connection = { ...server, database: name as "bellhop" };
  const pools: pg.Pool[] = [];
  const openPool = (max: number) => {
    const pool = createPool(connection, { max, applicationName: "test", onError: () => {} });
    Object.assign(pool.options, { connectionTimeoutMillis: PATIENCE_MS, onConnect: withoutHaste });
    pools.push(pool);
    return pool;
  };
  const pool = openPool(OWN);
  const database = acceptText(createDatabase(pool, PATIENCE_MS));
  const open = (max: number) => {
    pool.options.max += max;
    return atMost(max, database);
  };
  return {
    database: atMost(OWN, database),
    connection,
    open,
    openAnew: (max) => acceptText(createDatabase(openPool(max), PATIENCE_MS)),
    async drop() {
      await Promise.all(pools.map((each) => each.end()));
      await onServer(server, `drop database ${name} with (force)`);
    },
  };
}

/**
 * As many statements at a time as a set of so many connections would carry. In truth all sets of a test share theirs: each
 * new one has to learn the tables and plan every statement again, which costs more than most tests do.
 */
function atMost(max: number, database: TextDatabase): TextDatabase {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (underWay === max) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) underWay -= 1;
      else next();
    }
  }
  return {
    rows: (query, values) => inTurn(() => database.rows(query, values)),
    transaction: (work) => inTurn(() => database.transaction(work)),
  };
}

/**
 * The limits of the product are for a process that is frozen, which a busy machine does to this one: it would lose its
 * transactions.
 */
async function withoutHaste(client: pg.ClientBase): Promise<void> {
  await client.query(`${PLANNER}; set lock_timeout = ${PATIENCE_MS}; set statement_timeout = ${PATIENCE_MS}`);
}

/** The database of the tests' PostgreSQL server that no test works in: for statements about other databases. */
export function testServer(): TestDatabase["connection"] {
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
