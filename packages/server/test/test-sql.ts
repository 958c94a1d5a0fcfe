import { Problem } from "../src/domain/problem.ts";
import type { Database, Sql } from "../src/store/sql.ts";

/** A database that a test can look over the shoulder of, hold up and cut off. */
export interface WatchedDatabase extends Database {
  /** The name of each prepared statement that was sent, the text of each other one. */
  readonly sent: string[];
  /** How many statements and transactions were begun. */
  readonly begun: number;
  /** Called before a statement is sent; it may hold it up, or throw instead of sending it. */
  before: (statement: string) => Promise<void> | void;
  /** Called after a statement has run; what it throws is thrown instead of the answer. */
  after: (statement: string) => Promise<void> | void;
  /** Resolves once nothing is under way but what `before` holds up. */
  idle(): Promise<void>;
}

export function watchDatabase(database: Database): WatchedDatabase {
  const sent: string[] = [];
  const underWay = new Set<Promise<unknown>>();
  const onChange: (() => void)[] = [];
  let heldUp = 0;
  let begun = 0;

  function change(): void {
    for (const wake of onChange.splice(0)) wake();
  }

  async function pass(statement: string): Promise<void> {
    heldUp += 1;
    change();
    try {
      await watched.before(statement);
    } finally {
      heldUp -= 1;
    }
  }

  function watchSql(sql: Sql): Sql {
    return {
      async rows(query, values) {
        const statement = typeof query === "string" ? query : (query.name ?? query.text);
        await pass(statement);
        sent.push(statement);
        const rows = await sql.rows<never>(query, values);
        await watched.after(statement);
        return rows;
      },
    };
  }

  function track<T>(work: Promise<T>): Promise<T> {
    begun += 1;
    underWay.add(work);
    const forget = () => {
      underWay.delete(work);
      change();
    };
    work.then(forget, forget);
    return work;
  }

  const watched: WatchedDatabase = {
    sent,
    get begun() {
      return begun;
    },
    before: () => {},
    after: () => {},
    rows: (query, values) => track(watchSql(database).rows(query, values)),
    transaction: (work) => track(database.transaction((sql) => work(watchSql(sql)))),
    async idle() {
      while (underWay.size > heldUp) {
        await new Promise<void>((resolve) => onChange.push(resolve));
        // What waited for the answer goes on first.
        await new Promise(setImmediate);
      }
    },
  };
  return watched;
}

/** As a pool says it when the connection is refused or lost. */
export function databaseAway(): Problem {
  return new Problem("database_away");
}

/** A door that statements wait at until it is opened. `reached` resolves when the first one has arrived. */
export function createGate(): { wait: () => Promise<void>; reached: Promise<void>; open: () => void } {
  let arrive = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    wait() {
      arrive();
      return opened;
    },
    reached,
    open: () => open(),
  };
}

/** Lets everything else go on until the condition holds. Between two looks the processor is PostgreSQL's. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
