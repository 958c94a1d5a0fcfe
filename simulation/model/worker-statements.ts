import { dueOfTeam, teamsWithDue, type Waiting } from "./claim-statements.ts";
import { type Effects, numberAt, recordsAt, textAt } from "./effect.ts";
import { type Session, waitForGrants } from "./session.ts";
import type { NotificationColumns } from "./tables.ts";
import { pickColumns } from "./task-rows.ts";

/** Workers, and the notifications that they deliver. */
export const workerStatements: Effects = {
  register_worker({ tables, model, nowMs }, values) {
    const row = {
      id: model.nextId("workers"),
      name: textAt(values, 1),
      expires_at: nowMs + numberAt(values, 2),
    };
    tables.workers.set(row.id, row);
    model.onChange({ relation: "workers", op: "insert", row });
    return [{ id: String(row.id) }];
  },

  renew_worker({ tables, nowMs }, values) {
    const row = tables.workers.get(numberAt(values, 1));
    if (row === undefined) return [];
    tables.workers.set(row.id, { ...row, expires_at: nowMs + numberAt(values, 2) });
    return [{ peers: tables.workers.size - 1 }];
  },

  remove_expired_workers(session) {
    const expired = [...session.tables.workers.values()].filter(
      ({ expires_at }) => expires_at < session.nowMs,
    );
    for (const { id } of expired) waitForGrants(session, id);
    for (const { id } of expired) removeWorker(session, id);
    return expired.map(({ id }) => ({ id: String(id) }));
  },

  remove_worker(session, values) {
    const id = numberAt(values, 1);
    waitForGrants(session, id);
    removeWorker(session, id);
    return [];
  },

  database_clock_ms: ({ nowMs }) => [{ ms: nowMs }],

  claim_due_notifications(session, values) {
    const workerId = numberAt(values, 1);
    if (!session.tables.workers.has(workerId)) return [];
    return recordsAt<{ teamId: number; most: number }>(values, 2)
      .flatMap(({ teamId, most }) => dueOfTeam(waiting(session), teamId, most, session.nowMs))
      .map(({ row: before }) => {
        const changes = { worker_id: workerId, fence: before.fence + 1, attempts: before.attempts + 1 };
        const row = change(session, before, changes);
        return {
          ...pickColumns(row, ["team_id", "id", "task_id", "url", "fence"]),
          endedAt: new Date(row.created_at),
          attempt: row.attempts,
        };
      });
  },

  settle_notification(session, values) {
    const row = session.tables.notifications.get(textAt(values, 2));
    if (row === undefined || row.fence !== numberAt(values, 3)) return [];
    const waitMs = values[4] as number | null;
    change(session, row, {
      status: values[3] as NotificationColumns["status"],
      worker_id: null,
      fence: row.fence + 1,
      last_error: values[5] as string | null,
      next_at: waitMs === null ? row.next_at : session.nowMs + waitMs,
    });
    return [];
  },

  teams_with_due_notifications: (session) => teamsWithDue(waiting(session), session.nowMs),

  held_notifications({ tables }, values) {
    const held = [...tables.notifications.values()].filter((row) => row.worker_id === values[0]);
    return held.map((row) => pickColumns(row, ["team_id", "id", "fence"]));
  },

  release_notifications(session, values) {
    for (const { id, fence } of recordsAt<{ id: string; fence: number }>(values, 1)) {
      const row = session.tables.notifications.get(id);
      if (row?.fence === fence) change(session, row, { worker_id: null, fence: fence + 1 });
    }
    return [];
  },

  reap_notifications(session) {
    for (const row of session.tables.notifications.values()) {
      if (row.worker_id === null || session.tables.workers.has(row.worker_id)) continue;
      change(session, row, { worker_id: null, fence: row.fence + 1 });
    }
    return [];
  },

  send_hints({ model, transaction }, values) {
    for (const message of values[1] as readonly string[]) {
      const tell = () => model.onNotify(message);
      if (transaction === null) tell();
      else transaction.writes.push(tell);
    }
    return [];
  },
};

function waiting({ tables }: Session): Waiting<NotificationColumns>[] {
  return [...tables.notifications.values()]
    .filter(({ status, worker_id }) => status === "pending" && worker_id === null)
    .map((row) => ({ row, atMs: row.next_at }));
}

/** Its slots die with it. */
function removeWorker({ tables, model }: Session, id: number): void {
  const row = tables.workers.get(id);
  if (row === undefined) return;
  tables.workers.delete(id);
  for (const [key, slot] of tables.slots) if (slot.worker_id === id) tables.slots.delete(key);
  model.onChange({ relation: "workers", op: "delete", row });
}

function change(
  { tables, model }: Session,
  before: NotificationColumns,
  changes: Partial<NotificationColumns>,
): NotificationColumns {
  const row = { ...before, ...changes };
  tables.notifications.set(row.id, row);
  model.onChange({ relation: "notifications", op: "update", row });
  return row;
}
