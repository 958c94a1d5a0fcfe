import type { BreakerSettings } from "../../packages/server/src/domain/breaker.ts";
import { breakerName, breakersOf, findBreaker, storeBreaker, storeBreakerTask } from "./breaker-rows.ts";
import { arrayAt, type Effects, numberAt, textAt } from "./effect.ts";
import { changeQueue, holdsHosts, ownQueue } from "./queue-statements.ts";
import { type Session, takeLock, writeLocked } from "./session.ts";
import type { BreakerColumns, BreakerCounts } from "./tables.ts";

const NONE: BreakerCounts = new Map();

/** What is counted for circuit breakers, and what follows. A transaction has locked the rows of its queues. */
export const breakerStatements: Effects = {
  lock_breakers(session, values) {
    const ids = [...new Set(arrayAt<number>(values, 2))].sort((one, other) => one - other);
    const live = ids.flatMap((id) => {
      const queue = ownQueue(session, id);
      return queue === undefined || queue.deleted_at !== null ? [] : [queue];
    });
    for (const { team_id, name } of live) takeLock(session, `queue ${team_id}/${name}`);
    return live.map(({ team_id: teamId, id: queueId, name: queue, breaker, concurrency, ordered }) => {
      return { teamId, queueId, queue, settings: breaker, concurrency, ordered };
    });
  },

  count_attempts(session, values) {
    const queueIds = arrayAt<number>(values, 2);
    const [hosts, withins] = [arrayAt<string>(values, 3), arrayAt<number>(values, 4)];
    const [failed, totals] = [arrayAt<number>(values, 5), arrayAt<number>(values, 6)];
    const began = arrayAt<Date | null>(values, 7);
    const sums = new Map<string, BreakerCounts>();
    for (const [index, queueId] of queueIds.entries()) {
      const host = hosts[index] ?? "";
      const until = findBreaker(session, queueId, host)?.until;
      const beganMs = began[index]?.getTime();
      if (until !== undefined && beganMs !== undefined && until > beganMs) continue;
      const at = roundedUp(session.nowMs, withins[index] ?? 1);
      const name = breakerName(queueId, host);
      const counts = new Map(sums.get(name) ?? countsOf(session, name));
      const known = session.model.plant === "counts-overwritten" ? undefined : counts.get(at);
      counts.set(at, {
        failed: (known?.failed ?? 0) + (failed[index] ?? 0),
        total: (known?.total ?? 0) + (totals[index] ?? 0),
      });
      sums.set(name, counts);
    }
    for (const [name, counts] of sums) storeCounts(session, name, counts);
    return [];
  },

  end_passes(session, values) {
    const [ids, fences] = [arrayAt<string>(values, 2), arrayAt<number>(values, 3)];
    return ids.flatMap((id, index) => {
      const row = session.tables.breakerTasks.get(id);
      if (row === undefined || row.passed_at === null || row.fence !== (fences[index] ?? 0) - 1) return [];
      storeBreakerTask(session, id, null);
      return [{ id, passedAt: new Date(row.passed_at) }];
    });
  },

  read_breakers(session, values) {
    const [hosts, withins] = [arrayAt<string>(values, 3), arrayAt<number>(values, 4)];
    return arrayAt<number>(values, 2).map((queueId, index) => {
      const host = hosts[index] ?? "";
      const breaker = findBreaker(session, queueId, host);
      const since = session.nowMs - (withins[index] ?? 0) * 1_000;
      const counted = [...countsOf(session, breakerName(queueId, host))].filter(([at]) => at > since);
      return {
        ...stateOf(breaker),
        until: breaker === undefined ? null : new Date(breaker.until),
        failed: counted.reduce((sum, [, count]) => sum + count.failed, 0),
        total: counted.reduce((sum, [, count]) => sum + count.total, 0),
      };
    });
  },

  count_breakers: (session) => [{ held: breakersOf(session).length }],

  write_breaker(session, values) {
    const [team_id, queue_id, host] = [numberAt(values, 1), numberAt(values, 2), textAt(values, 3)];
    const [failures, cooldown, allowed] = [5, 6, 7].map((index) => numberAt(values, index));
    const { nowMs } = session;
    const fresh: BreakerColumns = {
      ...{ team_id, queue_id, host, phase: textAt(values, 4) as BreakerColumns["phase"] },
      ...{ failures: failures ?? 0, cooldown: cooldown ?? 0, allowed: allowed ?? 0, opened_at: nowMs },
      until: nowMs + (cooldown ?? 0) * 1_000,
    };
    const before = findBreaker(session, queue_id, host);
    const kept = before?.phase === "open" ? before : fresh;
    const until = fresh.phase === "open" ? fresh.until : Math.min(before?.until ?? fresh.until, nowMs);
    storeCounts(session, breakerName(queue_id, host), NONE);
    const row =
      before === undefined ? fresh : { ...fresh, failures: kept.failures, opened_at: kept.opened_at, until };
    storeBreaker(session, row, row);
    return [];
  },

  mark_holding_queue(session, values) {
    const queueId = numberAt(values, 2);
    const queue = ownQueue(session, queueId);
    const holds = breakersOf(session).some((row) => row.queue_id === queueId && row.phase !== "draining");
    if (queue === undefined || queue.holds_hosts === holds || session.model.plant === "hosts-not-held")
      return [];
    holdsHosts(session, queue, holds);
    return [{ hasChanged: true }];
  },

  breakers_to_close(session, values) {
    const [queueId, host] = [numberAt(values, 2), values[2] ?? null];
    return breakersOf(session)
      .filter((row) => row.queue_id === queueId && (host === null || row.host === host))
      .filter(({ phase }) => phase !== "draining")
      .sort((one, other) => (one.host < other.host ? -1 : 1))
      .map((row) => ({ host: row.host, ...stateOf(row) }));
  },

  queues_with_open_breakers(session, values) {
    const { queues } = session.tables;
    return breakersOf(session).flatMap(({ host, phase, queue_id: queueId }) => {
      const queue = queues.get(queueId);
      const isOne = host === values[1] && phase === "open" && queue?.deleted_at === null;
      return isOne ? [{ queueId, queue: queue?.name }] : [];
    });
  },

  set_queue_breaker(session, values) {
    const queue = ownQueue(session, numberAt(values, 2));
    const breaker: BreakerSettings | null = values[2] === null ? null : JSON.parse(textAt(values, 3));
    if (queue === undefined || queue.deleted_at !== null) return [];
    return changeQueue(session, queue, { breaker, epoch: queue.epoch + 1 });
  },
};

function stateOf(row: BreakerColumns | undefined): object {
  return row === undefined
    ? { phase: null }
    : { phase: row.phase, cooldown: row.cooldown, allowed: row.allowed };
}

function countsOf({ tables }: Session, name: string): BreakerCounts {
  return tables.breakerCounts.get(name) ?? NONE;
}

function storeCounts(session: Session, name: string, counts: BreakerCounts): void {
  const { breakerCounts } = session.tables;
  const before = countsOf(session, name);
  writeLocked(
    session,
    () => breakerCounts.set(name, counts),
    () => breakerCounts.set(name, before),
  );
}

/** `date_bin`, and a step on: a sixtieth of the window, in whole microseconds. */
function roundedUp(ms: number, within: number): number {
  const step = Math.round((within / 60) * 1e6);
  return (Math.floor((ms * 1_000) / step) * step + step) / 1_000;
}
