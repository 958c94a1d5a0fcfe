import type { TaskStatus } from "../../packages/server/src/domain/task.ts";
import { type Effects, numberAt, recordsAt } from "./effect.ts";
import { eventPlace, type Session } from "./session.ts";
import type { TaskColumns } from "./tables.ts";

/** For `write_queue_event` and the streams: what listeners are told, and how they read it. */
export const eventStatements: Effects = {
  listen_to(session, values) {
    const { listeners } = session.tables;
    return (values[0] as readonly number[]).map((teamId) => {
      const since = listeners.get(teamId) ?? eventPlace(session);
      listeners.set(teamId, since);
      return { teamId, since: String(since) };
    });
  },

  // Each statement takes no time here.
  older_statements: () => [],

  read_events({ tables, model: { xids }, nowMs }, values) {
    const horizon = Math.min(xids.ended + 1, ...xids.open);
    const about = { horizon: String(horizon), nowMs };
    const most = numberAt(values, 2);
    const rows = recordsAt<{ teamId: number; xid: string; seq: string }>(values, 1).flatMap((place) => {
      const [xid, seq] = [Number(place.xid), Number(place.seq)];
      return tables.events
        .filter((row) => row.team_id === place.teamId && row.xid < horizon)
        .filter((row) => row.xid > xid || (row.xid === xid && row.seq >= seq))
        .sort((one, other) => one.xid - other.xid || one.seq - other.seq)
        .slice(0, most);
    });
    if (rows.length === 0) return [{ ...about, teamId: null }];
    return rows.map(({ team_id, xid, seq, queue, at, entry }) => ({
      ...about,
      teamId: team_id,
      xid: String(xid),
      seq: String(seq),
      sandbox: false,
      queue,
      at: new Date(at),
      writtenAt: new Date(at),
      entries: [entry],
    }));
  },

  // What of a task does not change is no concern of its events' order.
  told_tasks: () => [],
};

/** While some team is listened to, the quiet form of a statement on every task's way does nothing. */
export function hasSubscribers({ listeners }: Session["tables"]): boolean {
  return listeners.size > 0;
}

/** Writes what happened to a task, if its team is listened to. `place`: that of the statement, of a transaction's. */
export function tellChange(
  session: Session,
  before: TaskStatus | null,
  row: TaskColumns,
  place: number | null,
): void {
  if (!session.tables.listeners.has(row.team_id)) return;
  const types = eventsOf(before, row.status);
  if (types.length === 0) return;
  const xid = place ?? eventPlace(session);
  const queue = session.tables.queues.get(row.queue_id)?.name ?? "";
  for (const type of types)
    session.tables.events.push({
      team_id: row.team_id,
      xid,
      seq: session.model.nextId("events"),
      queue,
      at: session.nowMs,
      entry: [type, row.id, row.shape, row.status],
    });
}

function eventsOf(before: TaskStatus | null, status: TaskStatus): readonly string[] {
  if (before === null) return status === "active" ? ["task.created", "task.started"] : ["task.created"];
  if (before === status) return [];
  if (status === "active") return ["task.started"];
  if (status !== "pending") return [`task.${status}`];
  return before === "active" ? ["task.attempt_failed"] : [];
}
