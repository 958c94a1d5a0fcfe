import { type Effects, numberAt, textAt } from "./effect.ts";
import { type Session, takeLock, write } from "./session.ts";
import type { BulkColumns } from "./tables.ts";

const LATEST_MS = 1_000;

/** Actions on many tasks: their rows, and the turns that nodes take. */
export const bulkStatements: Effects = {
  insert_bulk(session, values) {
    const matched = numberAt(values, 6);
    const row: BulkColumns = {
      team_id: numberAt(values, 1),
      id: textAt(values, 2),
      action: textAt(values, 3) as BulkColumns["action"],
      environment: textAt(values, 4),
      rate: numberAt(values, 5),
      matched,
      done: 0,
      skipped: 0,
      status: matched === 0 ? "completed" : "running",
      next_at: session.nowMs,
      created_at: session.nowMs,
    };
    write(session, () => store(session, "insert", row));
    const { id, action, status, done, skipped, created_at } = row;
    return [{ id, action, status, matched, done, skipped, createdAt: new Date(created_at) }];
  },

  insert_portion(session, values) {
    write(session, () => {
      session.tables.portions.set(textAt(values, 2), values[3] as readonly string[]);
    });
    return [];
  },

  next_bulk_teams({ tables, nowMs }, values) {
    const firsts = new Map<number, number>();
    for (const { team_id, next_at } of running(tables.bulks))
      firsts.set(team_id, Math.min(next_at, firsts.get(team_id) ?? Number.POSITIVE_INFINITY));
    return [...firsts]
      .sort(([, one], [, other]) => one - other)
      .slice(0, numberAt(values, 1))
      .map(([teamId, next_at]) => ({ teamId, waitMs: Math.max(0, Math.ceil(next_at - nowMs)) }));
  },

  lock_next_bulk(session, values) {
    const { tables, model, clockMs } = session;
    const [row] = running(tables.bulks)
      .filter(({ team_id, next_at }) => team_id === numberAt(values, 1) && next_at <= clockMs)
      .filter(({ id }) => !model.locks.has(`bulk ${id}`))
      .sort((one, other) => one.next_at - other.next_at || (one.id < other.id ? -1 : 1));
    if (row === undefined) return [];
    takeLock(session, `bulk ${row.id}`);
    const { team_id: teamId, id, environment, action, rate, done, skipped } = row;
    const lateMs = clockMs - dueAt(row, clockMs);
    return [{ teamId, id, environment, action, rate, position: done + skipped, lateMs }];
  },

  read_turn({ tables }, values) {
    const ids = tables.portions.get(textAt(values, 2));
    return ids === undefined ? [] : [{ ids: ids.slice(numberAt(values, 4) - 1, numberAt(values, 5)) }];
  },

  count_turn(session, values) {
    const { tables, clockMs } = session;
    const row = tables.bulks.get(textAt(values, 2));
    if (row === undefined) return [];
    const [done, skipped] = [row.done + numberAt(values, 3), row.skipped + numberAt(values, 4)];
    const status = done + skipped < row.matched ? "running" : "completed";
    const next_at = dueAt(row, clockMs) + numberAt(values, 5) * 1_000;
    write(session, () => {
      store(session, "update", { ...row, done, skipped, status, next_at });
      if (status === "completed") tables.portions.delete(row.id);
    });
    return [];
  },
};

export function running(bulks: ReadonlyMap<string, BulkColumns>): BulkColumns[] {
  return [...bulks.values()].filter(({ status }) => status === "running");
}

/** A turn that is later than this does not make up for it. */
function dueAt({ next_at }: BulkColumns, clockMs: number): number {
  return Math.max(next_at, clockMs - LATEST_MS);
}

function store({ tables, model }: Session, op: "insert" | "update", row: BulkColumns): void {
  tables.bulks.set(row.id, row);
  model.onChange({ relation: "bulks", op, row });
}
