import type { Database, Sql, Statement } from "../../packages/server/src/store/sql.ts";
import { execute } from "../model/model-database.ts";
import {
  BEGIN,
  Blocked,
  beginTransaction,
  COMMIT,
  type Done,
  endTransaction,
  isEnd,
  type Model,
  ROLLBACK,
  type Transaction,
} from "../model/session.ts";
import { statementName } from "../model/statements.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Fate } from "./storm.ts";

/** As in `postgres/database.ts` and `postgres/pool.ts`. */
export const STATEMENT_MS = 1_500;
const LOCK_TIMEOUT_MS = 1_200;
const IDLE_IN_TRANSACTION_MS = 3_000;

type Answer = { readonly rows: object[] } | "error";

/** A connection that a transaction runs on. */
interface Link {
  readonly transaction: Transaction;
  /** Seen from the process: thrown away with the first statement that is not answered well. */
  isOpen: boolean;
  /** Seen from the server. */
  isOver: boolean;
  statements: number;
}

/**
 * The store's door as a process sees it: statements go to the model of the database, and what becomes of each on its way
 * there and back is the storm's to say. What the process has given up may be carried out all the same, now or much later.
 */
export function openConnection(options: {
  readonly scheduler: Scheduler;
  readonly model: Model;
  readonly process: Process;
  readonly drawFate: (statement: string) => Fate;
  /** `Problem("database_away")` of the server that is simulated. */
  readonly away: () => Error;
  readonly statementMs: number;
  readonly onStatement: (done: Done) => void;
}): Database {
  const { scheduler, model, process, away } = options;

  /** Carries a statement out, when no lock is in its way; the server gives up on a lock before the process does. */
  function carryOut(
    query: Statement,
    values: readonly unknown[],
    link: Link | null,
    giveUpMs: number,
    done: (answer: Answer) => void,
  ): void {
    if (link?.isOver) {
      done("error");
      return;
    }
    try {
      done({ rows: link === null ? run(query, values, null) : onLink(link, query, values) });
    } catch (error) {
      if (!(error instanceof Blocked)) scheduler.fail(error);
      else
        waitForLock(giveUpMs, (isFree) => {
          if (isFree) return carryOut(query, values, link, giveUpMs, done);
          if (link !== null) finish(link, ROLLBACK);
          done("error");
        });
    }
  }

  function waitForLock(giveUpMs: number, go: (isFree: boolean) => void): void {
    let isOver = false;
    const once = (isFree: boolean) => () => {
      if (!isOver) go(isFree);
      isOver = true;
    };
    model.waiting.push(once(true));
    scheduler.after(giveUpMs - scheduler.nowMs, once(false));
  }

  function onLink(link: Link, query: Statement, values: readonly unknown[]): object[] {
    link.statements += 1;
    const { statements } = link;
    if (isEnd(query)) {
      finish(link, query);
      return [];
    }
    scheduler.after(IDLE_IN_TRANSACTION_MS, () => {
      if (link.statements === statements) finish(link, ROLLBACK);
    });
    if (query !== BEGIN) return run(query, values, link.transaction);
    link.transaction.beganMs = model.nowMs();
    return [];
  }

  function run(query: Statement, values: readonly unknown[], transaction: Transaction | null): object[] {
    const rows = execute(model, query, values, transaction);
    options.onStatement({ atMs: model.nowMs(), transaction, query, values, rows });
    return rows;
  }

  function finish(link: Link, how: Statement): void {
    if (link.isOver) return;
    link.isOver = true;
    const { transaction } = link;
    options.onStatement({ atMs: model.nowMs(), transaction, query: how, values: [], rows: [] });
    endTransaction(model, transaction, how === COMMIT ? "commit" : "rollback");
  }

  // One object, and its methods: functions of their own in here would be most of what a run costs.
  function ask(
    query: Statement,
    values: readonly unknown[],
    mostMs: number,
    link: Link | null,
  ): Promise<object[]> {
    return new Promise((resolve, reject) => {
      const fate = options.drawFate(named(query));
      const exchange = {
        isAnswered: false,
        settle(answer: Answer): void {
          if (this.isAnswered) return;
          this.isAnswered = true;
          deadline.cancel();
          if (answer !== "error") {
            resolve(answer.rows);
            return;
          }
          if (link !== null) link.isOpen = false;
          reject(away());
        },
        tell(answer: Answer): void {
          if (fate.answersMs !== null)
            process.after(fate.answersMs, "read", () => this.settle(fate.isBroken ? "error" : answer));
        },
      };
      const deadline = process.after(mostMs, "deadline", () => exchange.settle("error"));
      if (fate.arrivesMs === null) return exchange.tell("error");
      scheduler.after(fate.arrivesMs, () =>
        carryOut(query, values, link, scheduler.nowMs + LOCK_TIMEOUT_MS, (answer) => exchange.tell(answer)),
      );
    });
  }

  /** Also what the model does not know must end the simulation, not be taken for a fault of the database. */
  function named(query: Statement): string {
    if (query === BEGIN || isEnd(query)) return query.name;
    try {
      return statementName(query);
    } catch (error) {
      scheduler.fail(error);
      throw error;
    }
  }

  function rowsOn(link: Link | null): Sql["rows"] {
    return <Row extends object>(query: Statement, values: readonly unknown[] = []) => {
      if (link?.isOpen === false) return Promise.reject(away());
      const mostMs = Math.max(query.mostMs ?? 0, options.statementMs);
      return ask(query, values, mostMs, link) as Promise<Row[]>;
    };
  }

  return {
    rows: rowsOn(null),
    async transaction(work) {
      const link: Link = { transaction: beginTransaction(), isOpen: true, isOver: false, statements: 0 };
      const ending = process.onEnd(() => finish(link, ROLLBACK));
      const say = (word: Statement) => ask(word, [], options.statementMs, link);
      try {
        await say(BEGIN);
        const result = await work({ rows: rowsOn(link) });
        await say(COMMIT);
        return result;
      } catch (error) {
        if (link.isOpen) await say(ROLLBACK).catch(() => {});
        throw error;
      } finally {
        ending.cancel();
      }
    },
  };
}
