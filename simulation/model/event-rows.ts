import type { TaskStatus } from "../../packages/server/src/domain/task.ts";
import { arrayAt, type Effects, numberAt, recordsAt, textAt } from "./effect.ts";
import { type EventPlace, eventPlace, placeEvents, SEQS, type Session } from "./session.ts";
import type { EventColumns, TaskColumns } from "./tables.ts";

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

  look_at_event_writers({ model }) {
    const { ended, open } = model.xids;
    const bystanders = [...open].filter(([, { writesEvents }]) => !writesEvents).map(([xid]) => String(xid));
    return [{ ended: String(ended), nextSeq: String((model.lastId("events") + 1) * SEQS), bystanders }];
  },

  read_events({ tables, model: { xids }, nowMs }, values) {
    const bystanders = arrayAt<string>(values, 5);
    const opened = [...xids.open.keys()];
    const oldest = Math.min(xids.ended + 1, ...opened.filter((xid) => !bystanders.includes(String(xid))));
    const ended = Number(textAt(values, 3));
    const isLook = ended < oldest && opened.some((xid) => bystanders.includes(String(xid)));
    const [horizon, horizonSeq] = isLook ? [ended, Number(textAt(values, 4))] : [oldest, 0];
    const about = {
      horizon: String(horizon),
      horizonSeq: String(horizonSeq),
      end: String(xids.ended + 1),
      nowMs,
    };
    const most = numberAt(values, 2);
    const rows = recordsAt<{ teamId: number; xid: string; seq: string }>(values, 1).flatMap((place) => {
      const [xid, seq] = [Number(place.xid), Number(place.seq)];
      return tables.events
        .filter((row) => row.team_id === place.teamId && isBefore(row, horizon, horizonSeq))
        .filter((row) => row.xid > xid || (row.xid === xid && row.seq >= seq))
        .sort((one, other) => one.xid - other.xid || one.seq - other.seq)
        .slice(0, most + 1);
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
      isFull: false,
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
  types: readonly string[],
  row: TaskColumns,
  place: EventPlace | null,
): void {
  if (types.length === 0 || !session.tables.listeners.has(row.team_id)) return;
  const at = place ?? placeEvents(session);
  const queue = session.tables.queues.get(row.queue_id)?.name ?? "";
  for (const type of types) {
    session.tables.events.push({
      team_id: row.team_id,
      xid: at.xid,
      seq: at.nextSeq,
      queue,
      at: session.nowMs,
      entry: [type, row.id, row.shape, row.status],
    });
    at.nextSeq += 1;
  }
}

function isBefore(row: EventColumns, xid: number, seq: number): boolean {
  return row.xid < xid || (row.xid === xid && row.seq < seq);
}

export function eventsOf(before: TaskStatus | null, status: TaskStatus): readonly string[] {
  if (before === null) return status === "active" ? ["task.created", "task.started"] : ["task.created"];
  if (before === status) return [];
  if (status === "active") return ["task.started"];
  if (status !== "pending") return [`task.${status}`];
  return before === "active" ? ["task.attempt_failed"] : [];
}
