import { Problem } from "../src/domain/problem.ts";
import { type Database, type Sql, type Statement, statement } from "../src/store/sql.ts";
import { inTime } from "./patience.ts";

/** What a test asks by itself needs no name. */
export interface TextSql extends Sql {
  rows<Row extends object>(query: Statement | string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface TextDatabase extends TextSql {
  transaction<T>(work: (sql: TextSql) => Promise<T>): Promise<T>;
}

export function acceptText(database: Database): TextDatabase {
  const inText = (sql: Sql): TextSql => ({
    rows: (query, values) => sql.rows(typeof query === "string" ? statement("text", query) : query, values),
  });
  return { ...inText(database), transaction: (work) => database.transaction((sql) => work(inText(sql))) };
}

/** A database that a test can look over the shoulder of, hold up and cut off. */
export interface WatchedDatabase extends TextDatabase {
  /** The name of each statement that was sent; the text of those that have none. */
  readonly sent: string[];
  /** The text of each. */
  readonly texts: string[];
  /** How many statements and transactions were begun. */
  readonly begun: number;
  /** Called before a statement is sent; it may hold it up, or throw instead of sending it. */
  before: (statement: string) => Promise<void> | void;
  /** Called after a statement has run; what it throws is thrown instead of the answer. */
  after: (statement: string) => Promise<void> | void;
  /** Resolves once nothing is under way but what `before` holds up. */
  idle(): Promise<void>;
}

export function watchDatabase(database: TextDatabase): WatchedDatabase {
  const sent: string[] = [];
  const texts: string[] = [];
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

  function watchSql(sql: TextSql): TextSql {
    return {
      async rows(query, values) {
        const statement = typeof query === "string" ? query : query.name;
        await pass(statement);
        sent.push(statement);
        texts.push(typeof query === "string" ? query : query.text);
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
    texts,
    get begun() {
      return begun;
    },
    before: () => {},
    after: () => {},
    rows: (query, values) => track(watchSql(database).rows(query, values)),
    transaction: (work) => track(database.transaction((sql) => work(watchSql(sql)))),
    async idle() {
      while (underWay.size > heldUp) {
        const changed = new Promise<void>((resolve) => onChange.push(resolve));
        await inTime(
          changed,
          () => `the end of ${underWay.size - heldUp} statements; sent last: ${sent.slice(-5)}`,
        );
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
