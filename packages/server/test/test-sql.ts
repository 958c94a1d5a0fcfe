import { AsyncLocalStorage } from "node:async_hooks";
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

/** Portions of due schedules look these up in their transaction. At most two of them run on a node, which has more connections. */
const FOR_FIRINGS: ReadonlySet<string> = new Set([
  "find_url_group",
  "find_team_terms",
  "find_active_tokens",
  "find_token_ids",
  "read_team_usage",
  "count_open_flows",
]);

export function watchDatabase(database: TextDatabase): WatchedDatabase {
  const sent: string[] = [];
  const texts: string[] = [];
  const underWay = new Set<Promise<unknown>>();
  const onChange: (() => void)[] = [];
  let heldUp = 0;
  let begun = 0;
  /** The transaction that the current work belongs to. */
  const current = new AsyncLocalStorage<{ isOpen: boolean }>();

  /** Transactions that each wait for a further connection can together hold all that there are, and then wait for ever. */
  function refuseSecond(name: string): void {
    if (current.getStore()?.isOpen === true && !FOR_FIRINGS.has(name))
      throw new TypeError(`${name} asks for another connection inside of a transaction`);
  }

  function transaction<T>(work: (sql: TextSql) => Promise<T>): Promise<T> {
    refuseSecond("A transaction");
    return database.transaction((sql) => {
      const own = { isOpen: true };
      return current
        .run(own, () => work(watchSql(sql)))
        .finally(() => {
          own.isOpen = false;
        });
    });
  }

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
    async rows(query, values) {
      refuseSecond(typeof query === "string" ? query : query.name);
      return track(watchSql(database).rows(query, values));
    },
    transaction: async (work) => track(transaction(work)),
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
