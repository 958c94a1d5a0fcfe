import type { Sql, Statement } from "../../packages/server/src/store/sql.ts";
import type { Done, Model, Transaction } from "./session.ts";
import { findStatement } from "./statements.ts";

/** Runs one statement, all of it at one instant. */
export function execute(
  model: Model,
  query: Statement,
  values: readonly unknown[],
  transaction: Transaction | null,
): object[] {
  const clockMs = model.nowMs();
  const nowMs = transaction?.beganMs ?? clockMs;
  return findStatement(query)({ model, tables: model.tables, nowMs, clockMs, transaction }, values);
}

/** The model as a database that answers at once, for what comes before the simulation. */
export function createModelDatabase(model: Model, onStatement: (done: Done) => void): Sql {
  return {
    async rows<Row extends object>(...[query, values = []]: Parameters<Sql["rows"]>) {
      const rows = execute(model, query, values, null);
      onStatement({ atMs: model.nowMs(), transaction: null, query, values, rows });
      return rows as Row[];
    },
  };
}
