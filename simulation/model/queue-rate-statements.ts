import { arrayAt, type Effects, numberAt } from "./effect.ts";
import { type Session, takeLock, writeLocked } from "./session.ts";

const PERMIT_MS = 100;

type Counts = ReadonlyMap<number, number>;
const NONE: Counts = new Map();

/** The permits of queues with a rate. A transaction that reads or writes those of a queue has locked the queue. */
export const queueRateStatements: Effects = {
  lock_queue_rate(session, values) {
    const queue = session.tables.queues.get(numberAt(values, 2));
    if (queue === undefined) return [];
    takeLock(session, `queue ${queue.team_id}/${queue.name}`);
    const isCurrent = queue.epoch === numberAt(values, 3) && queue.deleted_at === null;
    return isCurrent && queue.rate !== null ? [{ rate: queue.rate, period: queue.rate_period }] : [];
  },

  move_queue_permits(session, values) {
    const counts = new Map(countsOf(session, numberAt(values, 2)));
    const add = (at: number, change: number) => counts.set(at, (counts.get(at) ?? 0) + change);
    const agesMs = arrayAt<number>(values, 4);
    const told = arrayAt<Date>(values, 3).flatMap((date, index) => {
      const permitAt = date.getTime();
      // As they were before this statement.
      if ((countsOf(session, numberAt(values, 2)).get(permitAt) ?? 0) <= 0) return [];
      const at = roundedUp(session.clockMs - (agesMs[index] ?? 0), numberAt(values, 5));
      return [{ permitAt, at: Math.min(permitAt, at) }];
    });
    for (const { permitAt, at } of told) {
      add(permitAt, -1);
      add(at, 1);
    }
    store(session, numberAt(values, 2), counts);
    return [];
  },

  count_queue_permits(session, values) {
    const sinceMs = session.clockMs - numberAt(values, 3) * 1_000;
    const counted = [...countsOf(session, numberAt(values, 2))].filter(
      ([at, count]) => at > sinceMs && count > 0,
    );
    const begun = counted.reduce((sum, [, count]) => sum + count, 0);
    const waitMs = counted.length === 0 ? null : Math.min(...counted.map(([at]) => at)) - sinceMs;
    return [
      { since: new Date(sinceMs), begun: session.model.plant === "rate-not-counted" ? 0 : begun, waitMs },
    ];
  },

  take_queue_permits(session, values) {
    const queueId = numberAt(values, 2);
    const since = values[3] as Date;
    const permitAt = roundedUp(session.clockMs + PERMIT_MS, numberAt(values, 5));
    const counts = new Map([...countsOf(session, queueId)].filter(([at]) => at > since.getTime()));
    counts.set(permitAt, (counts.get(permitAt) ?? 0) + numberAt(values, 3));
    store(session, queueId, counts);
    return [{ permitAt: new Date(permitAt) }];
  },
};

function countsOf({ tables }: Session, queueId: number): Counts {
  return tables.queuePermits.get(queueId) ?? NONE;
}

function store(session: Session, queueId: number, counts: Counts): void {
  const { queuePermits } = session.tables;
  const before = countsOf(session, queueId);
  writeLocked(
    session,
    () => queuePermits.set(queueId, counts),
    () => queuePermits.set(queueId, before),
  );
}

/** `date_bin`, and a step on: a thousandth of the period, which is a millisecond for each second of it. */
function roundedUp(ms: number, step: number): number {
  return Math.floor(ms / step) * step + step;
}
