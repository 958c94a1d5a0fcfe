/** The little that the store needs of a database. `postgres/` implements it; a transaction is one too. */
export interface Sql {
  rows<Row extends object>(query: string | Prepared, values?: readonly unknown[]): Promise<Row[]>;
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
