/**
 * The database interface of the store. `postgres/` implements it; a transaction is one too. Every statement is answered
 * or refused in time, even if the database is silent. A refused statement may still run, now or much later: no work may
 * start from it, and it must do no harm when it runs late.
 */
export interface Sql {
  rows<Row extends object>(query: string | Prepared | Patient, values?: readonly unknown[]): Promise<Row[]>;
}

/** PostgreSQL can never store a value of this statement: a NUL, a number out of range. */
export class Unstorable extends Error {
  override readonly name = "Unstorable";
}

export interface Database extends Sql {
  /** Commits when `work` resolves, rolls back when it throws. After a deadlock it runs again from its beginning. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/**
 * A hot statement: parsed and planned once per connection. Planning the claim costs more than running it.
 */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

export function prepare(name: string, text: string): Prepared {
  return { name, text };
}

/** A statement with a longer timeout. */
export interface Patient {
  readonly name?: never;
  readonly text: string;
  readonly mostMs: number;
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

export function patient(use: keyof typeof PATIENCE_MS, text: string): Patient {
  return { text, mostMs: PATIENCE_MS[use] };
}
