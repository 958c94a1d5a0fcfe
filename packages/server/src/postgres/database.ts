import pg from "pg";
import driver from "pg/lib/utils.js";
import { Problem } from "../domain/problem.ts";
import { type Database, type Sql, type Statement, statement, Unstorable } from "../store/sql.ts";
import { toParameter } from "./array-literal.ts";
import { beginDeadline, endDeadline, isOpen } from "./deadlines.ts";
import { type Parameter, PreparedQuery } from "./prepared-query.ts";
import { toRows } from "./rows.ts";

/** From the wait for a connection to the answer. Callers get a 503 within 2 s. */
const STATEMENT_MS = 1_500;

/** The store's interface to a pool. An unreachable or silent database is a problem, not a bug. */
export function createDatabase(pool: pg.Pool, statementMs = STATEMENT_MS): Database {
  return {
    rows: (query, values) => guarded(() => untilUndisturbed(() => ask(pool, query, values, statementMs))),
    transaction: (work) => guarded(() => untilUndisturbed(() => transact(pool, work, statementMs))),
  };
}

const MOST_TRIES = 5;

/**
 * Two transactions that lock several rows in different orders deadlock, and PostgreSQL rolls one of them back. Class 40
 * of SQLSTATE covers deadlocks and serialization failures.
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

/** Callbacks and a single promise: every hot statement runs through this. */
function ask<Row extends object>(
  pool: pg.Pool,
  query: Statement,
  values: readonly unknown[] | undefined,
  statementMs: number,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const parameters = toParameters(values);
    let client: pg.PoolClient | null = null;
    const deadline = beginDeadline(query.mostMs ?? statementMs, () => {
      reject(new Silence());
      // The answer may still arrive, and the next statement would read it as its own.
      client?.release(true);
    });
    pool.connect((refusal, connected) => {
      if (!isOpen(deadline)) return connected?.release();
      if (connected === undefined) {
        endDeadline(deadline);
        return reject(refusal);
      }
      client = connected;
      run<Row>(connected, query, parameters, (error, rows) => {
        if (!endDeadline(deadline)) return;
        // Discarded also on server errors: a statement prepared before a schema change would fail on this connection
        // forever.
        connected.release(error !== null);
        if (error === null) resolve(rows);
        else reject(error);
      });
    });
  });
}

const BEGIN = statement("begin", "begin");
const COMMIT = statement("commit", "commit");
const ROLLBACK = statement("rollback", "rollback");

async function transact<T>(pool: pg.Pool, work: (sql: Sql) => Promise<T>, statementMs: number): Promise<T> {
  const connection = await take(pool, statementMs);
  try {
    await connection.rows(BEGIN);
    const result = await work(connection);
    await connection.rows(COMMIT);
    connection.giveBack();
    return result;
  } catch (error) {
    if (isReadOnly(error)) connection.throwAway();
    else await connection.rows(ROLLBACK).then(connection.giveBack, connection.throwAway);
    throw error;
  }
}

/** The server became read-only, and this connection cannot move to another. */
function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "25006";
}

/** A pool connection for one use: returned, or destroyed with its socket. */
interface Connection extends Sql {
  giveBack(): void;
  throwAway(): void;
}

async function take(pool: pg.Pool, statementMs: number): Promise<Connection> {
  const beganMs = performance.now();
  const client = await connect(pool, statementMs);
  // The wait for the connection counts towards the first statement's time.
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
    rows<Row extends object>(query: Statement, values: readonly unknown[] = []) {
      if (!taken) return Promise.reject(new Silence());
      return new Promise<Row[]>((resolve, reject) => {
        const parameters = toParameters(values);
        const deadline = beginDeadline(query.mostMs ?? usualMs, () => {
          reject(new Silence());
          throwAway();
        });
        usualMs = statementMs;
        run<Row>(client, query, parameters, (error, answer) => {
          if (!endDeadline(deadline)) return;
          if (error === null) resolve(answer);
          else reject(error);
        });
      });
    },
  };
}

/** The pool may open a new connection, which may also get no answer. */
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

function run<Row extends object>(
  client: pg.ClientBase,
  query: Statement,
  parameters: Parameter[],
  onAnswer: (error: Error | null, rows: Row[]) => void,
): void {
  if (query.isPrepared) {
    client.query(new PreparedQuery<Row>(query, parameters, onAnswer));
    return;
  }
  const config = { text: query.text, values: parameters, rowMode: "array" } as const;
  client.query(config, (error: Error | null, result) => {
    if (error) onAnswer(error, []);
    else onAnswer(null, toRows<Row>(query, result));
  });
}

function toParameters(values: readonly unknown[] = []): Parameter[] {
  return values.map((value) => driver.prepareValue(toParameter(value)));
}

/** Converts errors of an unreachable database into the problem for callers. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAway(error)) throw new Problem("database_away", {}, { cause: error });
    throw isUnstorable(error) ? new Unstorable("A value cannot be stored", { cause: error }) : error;
  }
}

/** SQLSTATE classes 22 (data exception) and 54 (limit exceeded): a retry would fail too. */
function isUnstorable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? "");
}

/**
 * SQLSTATEs of a server that cannot serve at the moment: it starts or stops (57P), is read-only (25006), reported
 * repeated deadlocks (40), timed out on a lock or a statement (55P03, 57014) or on an idle transaction (25P03, 25P04),
 * has no connection, memory or disk left (53), cannot read or write its files (58), or the connection failed (08).
 */
const AWAY = /^(40|57P0|57014|55P03|25006|25P0[34]|53|58|08)/;

/**
 * An error without an SQLSTATE means that the connection was refused, lost or timed out: system errors have a code, the
 * driver throws plain `Error`. A TypeError is a bug.
 */
function isAway(error: unknown): boolean {
  if (error instanceof Problem) return false;
  if (error instanceof pg.DatabaseError) return AWAY.test(error.code ?? "");
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  return "code" in error || error.constructor === Error;
}
