import { dueOfTeam, teamsWithDue, type Waiting } from "./claim-statements.ts";
import { type Effects, numberAt, recordsAt, textAt } from "./effect.ts";
import { type Session, takeLock, write } from "./session.ts";
import type { FiringColumns, ScheduleColumns, Tables } from "./tables.ts";
import { pickColumns } from "./task-rows.ts";

/** Schedules and their firings. */
export const scheduleStatements: Effects = {
  insert_schedule(session, values) {
    const { nowMs } = session;
    const row: ScheduleColumns = {
      team_id: numberAt(values, 1),
      sandbox: values[1] === true,
      id: textAt(values, 3),
      name: textAt(values, 4),
      cron: textAt(values, 5),
      timezone: textAt(values, 6),
      overlap: textAt(values, 7),
      catch_up: textAt(values, 8),
      task: textAt(values, 9),
      request: textAt(values, 10),
      next_run_at: instantAt(values, 11),
      last_task_id: null,
      created_at: nowMs,
      updated_at: nowMs,
    };
    if (session.tables.schedules.has(row.id)) return [];
    write(session, () => store(session, "insert", row));
    return [{ id: row.id }];
  },

  update_schedule(session, values) {
    const row = session.tables.schedules.get(textAt(values, 2));
    if (row === undefined) return [];
    takeLock(session, `schedule ${row.id}`);
    const changes = { next_run_at: instantAt(values, 9), updated_at: session.nowMs };
    write(session, () => store(session, "update", { ...row, ...changes }));
    return [];
  },

  teams_with_due_schedules: ({ tables, nowMs }) => teamsWithDue(waiting(tables), nowMs),

  /** Those that another transaction has are skipped. */
  take_due_schedules(session, values) {
    const { tables, model, clockMs } = session;
    const free = waiting(tables).filter(({ row }) => !model.locks.has(`schedule ${row.id}`));
    const rooms = recordsAt<{ readonly teamId: number; readonly most: number }>(values, 1);
    const taken = rooms.flatMap(({ teamId, most }) => dueOfTeam(free, teamId, most, clockMs));
    return taken.map(({ row }) => {
      takeLock(session, `schedule ${row.id}`);
      const isFired = tables.firings.some(
        ({ schedule_id, fires_at }) => schedule_id === row.id && fires_at === row.next_run_at,
      );
      const times = { nextRunAt: new Date(row.next_run_at ?? 0), now: new Date(clockMs), aheadSeconds: 0 };
      const size = Buffer.byteLength(row.request);
      return { ...pickColumns(row, SHOWN), ...times, isFired, fanOut: null, size };
    });
  },

  record_firings(session, values) {
    for (const { id, next, task_id } of recordsAt<FiringRow>(values, 1)) {
      const row = session.tables.schedules.get(id);
      if (row === undefined) continue;
      write(session, () => {
        if (task_id !== null) {
          keepFiring(session, { schedule_id: id, task_id, fires_at: row.next_run_at ?? 0 });
          const task = session.tables.tasks.get(task_id);
          const scheduled_for = row.next_run_at;
          if (task !== undefined) session.tables.tasks.set(task_id, { ...task, scheduled_for });
        }
        const last = task_id === null ? {} : { last_task_id: task_id };
        store(session, "update", { ...row, next_run_at: Date.parse(next), ...last });
      });
    }
    return [];
  },
};

interface FiringRow {
  readonly id: string;
  readonly next: string;
  readonly task_id: string | null;
}

const SHOWN = [
  ...(["team_id", "id", "sandbox", "cron", "timezone", "overlap", "catch_up", "task"] as const),
  "request",
] as const;

function waiting({ schedules }: Tables): Waiting<ScheduleColumns>[] {
  return [...schedules.values()].flatMap((row) =>
    row.next_run_at === null ? [] : [{ row, atMs: row.next_run_at }],
  );
}

function instantAt(values: readonly unknown[], index: number): number | null {
  const value = values[index - 1];
  return value instanceof Date ? value.getTime() : null;
}

function store({ tables, model }: Session, op: "insert" | "update", row: ScheduleColumns): void {
  tables.schedules.set(row.id, row);
  model.onChange({ relation: "schedules", op, row });
}

function keepFiring({ tables, model }: Session, row: FiringColumns): void {
  tables.firings.push(row);
  model.onChange({ relation: "schedule_firings", op: "insert", row });
}
