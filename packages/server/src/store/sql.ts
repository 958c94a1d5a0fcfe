/**
 * The database interface of the store. `postgres/` implements it; a transaction is one too. Every statement is answered
 * or refused in time, even if the database is silent. A refused statement may still run, now or much later: no work may
 * start from it, and it must do no harm when it runs late.
 */
export interface Sql {
  rows<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** PostgreSQL can never store a value of this statement: a NUL, a number out of range. */
export class Unstorable extends Error {
  override readonly name = "Unstorable";
}

export interface Database extends Sql {
  /** Commits when `work` resolves, rolls back when it throws. After a deadlock it runs again from its beginning. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** A SQL statement. Tests and the simulation recognise it by its name, which no other statement has. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Each connection parses and plans it once. For hot statements: planning the claim costs more than running it. */
  readonly isPrepared: boolean;
  /** A longer timeout; null: the usual one. */
  readonly mostMs: number | null;
}

/** Timeouts of statements that are not for a single task or row. */
export const PATIENCE_MS = {
  /** A page of a list: a million rows may precede it. */
  list: 5_000,
  /** A batch of the janitor's deletions; a check of every queue. */
  chore: 10_000,
  /** A schema change, and the wait for another node that makes it. */
  migration: 600_000,
} as const;

/** Called once, when its module is loaded, unless the text depends on the request. */
export function statement(
  name: string,
  text: string,
  options: { readonly prepared?: boolean; readonly patience?: keyof typeof PATIENCE_MS } = {},
): Statement {
  const { prepared = false, patience } = options;
  return { name, text, isPrepared: prepared, mostMs: patience === undefined ? null : PATIENCE_MS[patience] };
}
