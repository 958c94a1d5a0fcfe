import pg from "pg";
import { Problem } from "../domain/problem.ts";
import { type Database, type Patient, type Prepared, type Sql, Unstorable } from "../store/sql.ts";
import { beginDeadline, endDeadline, isOpen } from "./deadlines.ts";
import { toRows } from "./rows.ts";

/** From the wait for a connection to the answer. Callers are promised a 503 within 2 s of asking. */
const STATEMENT_MS = 1_500;

/** The store's view of a pool. A database that cannot be reached, or does not answer, is a problem, not a bug. */
export function createDatabase(pool: pg.Pool, statementMs = STATEMENT_MS): Database {
  return {
    rows: (query, values) => guarded(() => untilUndisturbed(() => ask(pool, query, values, statementMs))),
    transaction: (work) => guarded(() => untilUndisturbed(() => transact(pool, work, statementMs))),
  };
}

const MOST_TRIES = 5;

/**
 * Two transactions that lock several rows in different orders wait for each other, and PostgreSQL undoes one of them,
 * as if it had not begun. Class 40 of SQLSTATE is deadlocks and the like.
 */
async function untilUndisturbed<T>(work: () => Promise<T>, tries = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isDisturbed = error instanceof pg.DatabaseError && error.code?.startsWith("40") === true;
    if (!isDisturbed || tries === MOST_TRIES) throw error;
    return untilUndisturbed(work, tries + 1);
  }
}

type Query = string | Prepared | Patient;

/** With callbacks, and one promise for all of it: this is every statement on a task's way. */
function ask<Row extends object>(
  pool: pg.Pool,
  query: Query,
  values: readonly unknown[] | undefined,
  statementMs: number,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    let client: pg.PoolClient | null = null;
    const deadline = beginDeadline(mostMs(query, statementMs), () => {
      reject(new Silence());
      // The answer may still be on its way, and the next statement would take it for its own.
      client?.release(true);
    });
    pool.connect((refusal, connected) => {
      if (!isOpen(deadline)) return connected?.release();
      if (connected === undefined) {
        endDeadline(deadline);
        return reject(refusal);
      }
      client = connected;
      client.query(toConfig(query, values), (error: Error | null, result) => {
        if (!endDeadline(deadline)) return;
        // Thrown away also for the server's own refusals: a statement that was prepared before the schema changed
        // fails on its connection for ever.
        connected.release(Boolean(error));
        if (error) reject(error);
        else resolve(toRows<Row>(query, result));
      });
    });
  });
}

async function transact<T>(pool: pg.Pool, work: (sql: Sql) => Promise<T>, statementMs: number): Promise<T> {
  const connection = await take(pool, statementMs);
  try {
    await connection.rows("begin");
    const result = await work(connection);
    await connection.rows("commit");
    connection.giveBack();
    return result;
  } catch (error) {
    if (isReadOnly(error)) connection.throwAway();
    else await connection.rows("rollback").then(connection.giveBack, connection.throwAway);
    throw error;
  }
}

/** The server cannot be written to any more, and this connection will not find another. */
function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "25006";
}

/** A connection of the pool's, for one use: given back, or thrown away with its socket. */
interface Connection extends Sql {
  giveBack(): void;
  throwAway(): void;
}

async function take(pool: pg.Pool, statementMs: number): Promise<Connection> {
  const beganMs = performance.now();
  const client = await connect(pool, statementMs);
  // The wait for the connection is part of the first statement's time.
  let usualMs = Math.max(0, statementMs - (performance.now() - beganMs));
  let taken = true;
  function release(broken: boolean): void {
    if (taken) client.release(broken);
    taken = false;
  }
  const throwAway = () => release(true);

  return {
    giveBack: () => release(false),
    throwAway,
    rows<Row extends object>(query: Query, values: readonly unknown[] = []) {
      if (!taken) return Promise.reject(new Silence());
      return new Promise<Row[]>((resolve, reject) => {
        const deadline = beginDeadline(mostMs(query, usualMs), () => {
          reject(new Silence());
          throwAway();
        });
        usualMs = statementMs;
        client.query(toConfig(query, values)).then(
          (result) => endDeadline(deadline) && resolve(toRows<Row>(query, result)),
          (error) => endDeadline(deadline) && reject(error),
        );
      });
    },
  };
}

/** The pool opens a connection where one is missing: that can be met by silence too. */
function connect(pool: pg.Pool, mostMs: number): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    const deadline = beginDeadline(mostMs, () => reject(new Silence()));
    pool.connect().then(
      (client) => (endDeadline(deadline) ? resolve(client) : client.release()),
      (error) => endDeadline(deadline) && reject(error),
    );
  });
}

/** The deadline passed without an answer. */
class Silence extends Error {
  override readonly name = "Silence";
  readonly code = "ETIMEDOUT";

  constructor() {
    super("PostgreSQL did not answer in time");
  }
}

function mostMs(query: Query, usualMs: number): number {
  return typeof query !== "string" && "mostMs" in query ? query.mostMs : usualMs;
}

function toConfig(query: Query, values: readonly unknown[] = []): pg.QueryArrayConfig {
  if (typeof query === "string") return { text: query, values: [...values], rowMode: "array" };
  const { name, text } = query;
  return { text, values: [...values], rowMode: "array", ...(name !== undefined && { name }) };
}

/** What a database that is away throws becomes the problem that callers are told. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAway(error)) throw new Problem("database_away", {}, { cause: error });
    throw isUnstorable(error) ? new Unstorable("A value cannot be stored", { cause: error }) : error;
  }
}

/** SQLSTATE classes 22 (data exception) and 54 (limit exceeded): the value is at fault, not the moment. */
function isUnstorable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? "");
}

/**
 * SQLSTATEs with which a server says that it cannot serve at the moment: it starts or stops (57P), is read-only (25006),
 * undid one of two that wait for each other time and again (40), gave up on a lock or a statement (55P03, 57014) or on a transaction that stood still (25P03, 25P04), has no connection,
 * memory or disk left (53), cannot read or write its files (58), or the connection failed (08).
 */
const AWAY = /^(40|57P0|57014|55P03|25006|25P0[34]|53|58|08)/;

/**
 * An error that is not the server's own word means that the connection was refused, lost or timed out: the system
 * gives such errors a code, the driver throws them as plain `Error`. A TypeError is ours.
 */
function isAway(error: unknown): boolean {
  if (error instanceof Problem) return false;
  if (error instanceof pg.DatabaseError) return AWAY.test(error.code ?? "");
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  return "code" in error || error.constructor === Error;
}
