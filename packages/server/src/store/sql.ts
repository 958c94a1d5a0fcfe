/**
 * The little that the store needs of a database. `postgres/` implements it; a transaction is one too.
 * Every statement is answered or refused in time, however silent the database is. What was refused may be carried out
 * all the same, now or much later: nothing may be begun from it, and it must do no harm when it comes late.
 */
export interface Sql {
  rows<Row extends object>(query: string | Prepared | Patient, values?: readonly unknown[]): Promise<Row[]>;
}

/** PostgreSQL cannot hold a value of this statement, and never will: a NUL, a number out of range. */
export class Unstorable extends Error {
  override readonly name = "Unstorable";
}

export interface Database extends Sql {
  /** Commits when `work` resolves, rolls back when it throws. Undone by a deadlock it is run again, from its beginning. */
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

/** A statement that may rightly take longer than the others. */
export interface Patient {
  readonly name?: never;
  readonly text: string;
  readonly mostMs: number;
}

/** What a statement may take that does not answer for a single task or row. */
export const PATIENCE_MS = {
  /** A page of a list: there may be a million rows to either side of it. */
  list: 5_000,
  /** A batch of what the janitor removes; a look at every queue. */
  chore: 10_000,
  /** A change of the schema, and the wait for another node that makes it. */
  migration: 600_000,
} as const;

export function patient(use: keyof typeof PATIENCE_MS, text: string): Patient {
  return { text, mostMs: PATIENCE_MS[use] };
}
