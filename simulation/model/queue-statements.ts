import { type Effect, type Effects, numberAt, recordsAt, textAt } from "./effect.ts";
import { liveQueue } from "./intake-statements.ts";
import { type Session, takeLock, takeSlots, waitForSlots, write } from "./session.ts";
import type { QueueColumns, SlotColumns } from "./tables.ts";
import { pickColumns } from "./task-rows.ts";

export const queueStatements: Effects = {
  insert_queue(session, values) {
    const [teamId, name] = [numberAt(values, 1), textAt(values, 2)];
    takeLock(session, `queue ${teamId}/${name}`);
    // Taken also where it is not used, as an identity column does.
    const id = session.model.nextId("queues");
    if (liveQueue(session, teamId, name) !== undefined) return [];
    const row: QueueColumns = {
      team_id: teamId,
      id,
      name,
      concurrency: numberAt(values, 3),
      max_retries: numberAt(values, 4),
      backoff: textAt(values, 5),
      retry_delay_seconds: numberAt(values, 6),
      timeout_seconds: numberAt(values, 7),
      retry_max_delay_seconds: numberAt(values, 8),
      no_retry_statuses: unlessEmpty(values[8] as readonly number[] | null),
      ordered: values[9] === true,
      on_failure: textAt(values, 11),
      rate: null,
      rate_period: null,
      breaker: null,
      holds_hosts: false,
      paused: false,
      epoch: 1,
      created_at: session.nowMs,
      updated_at: session.nowMs,
      deleted_at: null,
    };
    store(session, "insert", row);
    return [toQueue(row)];
  },

  lock_queue_order(session, values) {
    const [teamId, name] = [numberAt(values, 1), textAt(values, 2)];
    takeLock(session, `queue ${teamId}/${name}`);
    const queue = liveQueue(session, teamId, name);
    return queue === undefined ? [] : [pickColumns(queue, ["ordered", "rate", "rate_period"])];
  },

  update_queue: changing((queue, values) => {
    const concurrency = (values[2] as number | null) ?? queue.concurrency;
    const ordered = (values[9] as boolean | null) ?? queue.ordered;
    const on_failure = (values[10] as string | null) ?? queue.on_failure;
    const isSame =
      concurrency === queue.concurrency && ordered === queue.ordered && on_failure === queue.on_failure;
    return {
      concurrency,
      ordered,
      on_failure,
      max_retries: (values[3] as number | null) ?? queue.max_retries,
      backoff: (values[4] as string | null) ?? queue.backoff,
      retry_delay_seconds: (values[5] as number | null) ?? queue.retry_delay_seconds,
      timeout_seconds: (values[6] as number | null) ?? queue.timeout_seconds,
      retry_max_delay_seconds: (values[7] as number | null) ?? queue.retry_max_delay_seconds,
      no_retry_statuses: unlessEmpty((values[8] as readonly number[] | null) ?? queue.no_retry_statuses),
      epoch: queue.epoch + (isSame ? 0 : 1),
    };
  }),

  set_queue_rate(session, values) {
    const queue = ownQueue(session, numberAt(values, 2));
    const [rate, rate_period] = [values[2], values[3]] as (number | null)[];
    const changes = { rate: rate ?? null, rate_period: rate_period ?? null };
    return queue === undefined ? [] : changeQueue(session, queue, { ...changes, epoch: queue.epoch + 1 });
  },

  set_queue_paused: changing((queue, values) =>
    queue.paused === values[2] ? null : { paused: values[2] === true, epoch: queue.epoch + 1 },
  ),

  mark_queue_deleted(session, values) {
    const queue = liveQueue(session, numberAt(values, 1), textAt(values, 2));
    if (queue !== undefined) takeLock(session, `deletion ${queue.id}`);
    return doom(session, values);
  },

  queues_with_stats(session, values) {
    const queue = liveQueue(session, numberAt(values, 1), textAt(values, 3));
    return queue === undefined ? [] : [{ ...toQueue(queue), stats: {} }];
  },

  lock_queues(session, values) {
    const [teamIds, names] = values as [readonly number[], readonly string[]];
    const queues = names.flatMap((name, index) => {
      const queue = liveQueue(session, teamIds[index] ?? 0, name);
      return queue === undefined ? [] : [{ ...queue, place: index + 1 }];
    });
    for (const { team_id, name } of queues.sort((one, other) => one.id - other.id))
      takeLock(session, `queue ${team_id}/${name}`);
    return queues.map(
      ({ team_id: teamId, id: queueId, place, epoch, concurrency, paused, ordered, rate, ...queue }) => ({
        ...{ place, teamId, queueId, epoch, concurrency, paused, ordered, rate },
        ...{ breaker: queue.breaker, holdsHosts: queue.holds_hosts },
      }),
    );
  },

  acquire_slots(session, values) {
    const { tables, model } = session;
    const worker_id = numberAt(values, 1);
    const [teamIds, queueIds, concurrencies, inFlight] = values.slice(1) as (readonly number[])[];
    if (!tables.workers.has(worker_id)) return [];
    for (const queue_id of queueIds ?? []) takeSlots(session, worker_id, queue_id);
    // The same for all rows: it is the transaction that wrote them.
    const version = String(model.nextId("versions"));
    return (queueIds ?? []).map((queue_id, index) => {
      const [team_id = 0, concurrency = 0, using = 0] = [teamIds, concurrencies, inFlight].map(
        (each) => each?.[index],
      );
      const others = [...tables.slots.values()].filter(
        (slot) => slot.queue_id === queue_id && slot.worker_id !== worker_id,
      );
      const { share, due } = dueSlots(others, concurrency);
      const granted = model.plant === "all-slots" ? concurrency : due;
      const slots = Math.max(using, granted);
      write(session, () => {
        tables.slots.set(`${queue_id} ${worker_id}`, { team_id, queue_id, worker_id, slots, version });
      });
      return { queueId: queue_id, slots, version, starved: slots < share, overdrawn: slots > granted };
    });
  },

  shrink_slots(session, values) {
    const { tables, model } = session;
    const workerId = numberAt(values, 1);
    const used = recordsAt<{ queue_id: number; slots: number }>(values, 2);
    waitForHeld(session, workerId, used);
    for (const { queue_id, slots } of used) {
      const key = `${queue_id} ${workerId}`;
      const held = tables.slots.get(key);
      if (held === undefined) continue;
      if (slots === 0) tables.slots.delete(key);
      else if (held.slots > slots)
        tables.slots.set(key, { ...held, slots, version: String(model.nextId("versions")) });
    }
    return [];
  },

  release_slots(session, values) {
    const { tables } = session;
    const workerId = numberAt(values, 1);
    const grants = recordsAt<{ queue_id: number; version: string }>(values, 2);
    waitForHeld(session, workerId, grants);
    for (const { queue_id, version } of grants) {
      const key = `${queue_id} ${workerId}`;
      if (tables.slots.get(key)?.version === version) tables.slots.delete(key);
    }
    return [];
  },
};

/** Of rows that a grant is changing; one that it is about to insert is not seen yet. */
function waitForHeld(
  session: Session,
  workerId: number,
  rows: readonly { readonly queue_id: number }[],
): void {
  for (const { queue_id } of rows)
    if (session.tables.slots.has(`${queue_id} ${workerId}`)) waitForSlots(session, workerId, queue_id);
}

/** `nullif(…, '{}')` */
function unlessEmpty(statuses: readonly number[] | null): readonly number[] | null {
  return statuses?.length === 0 ? null : statuses;
}

/** What is due to one more worker, besides these. Integers divide as in SQL. */
function dueSlots(others: readonly SlotColumns[], concurrency: number): { share: number; due: number } {
  if (others.length === 0) return { share: concurrency, due: concurrency };
  const share = Math.floor(concurrency / (others.length + 1));
  const remainder = concurrency % (others.length + 1);
  const held = others.map(({ slots }) => slots);
  const taken = held.reduce((sum, slots) => sum + slots, 0);
  const isContended = Math.min(...held) < share;
  const oneMore = held.filter((slots) => slots > share).length < remainder ? 1 : 0;
  const most = isContended ? share + oneMore : concurrency;
  return { share, due: Math.max(0, Math.min(concurrency - taken, most)) };
}

/** An update of a queue by its name. Null: it is so already. */
function changing(
  changesOf: (queue: QueueColumns, values: readonly unknown[]) => Partial<QueueColumns> | null,
): Effect {
  return (session, values) => {
    const [teamId, name] = [numberAt(values, 1), textAt(values, 2)];
    takeLock(session, `queue ${teamId}/${name}`);
    const queue = liveQueue(session, teamId, name);
    const changes = queue === undefined ? null : changesOf(queue, values);
    return queue === undefined || changes === null ? [] : changeQueue(session, queue, changes);
  };
}

export function changeQueue(session: Session, queue: QueueColumns, changes: Partial<QueueColumns>): object[] {
  const row = { ...queue, ...changes, updated_at: session.nowMs };
  store(session, "update", row);
  return [toQueue(row)];
}

function store(session: Session, op: "insert" | "update", row: QueueColumns): void {
  const { tables, model, transaction } = session;
  transaction?.queues.set(row.id, row);
  write(session, () => {
    tables.queues.set(row.id, row);
    model.onChange({ relation: "queues", op, row });
  });
}

/** A circuit breaker begins or ends to hold hosts of the queue back. */
export function holdsHosts(session: Session, queue: QueueColumns, holds_hosts: boolean): void {
  store(session, "update", { ...queue, holds_hosts, epoch: queue.epoch + 1 });
}

/** Also one that this transaction has inserted. */
export function ownQueue({ tables, transaction }: Session, id: number): QueueColumns | undefined {
  return transaction?.queues.get(id) ?? tables.queues.get(id);
}

function doom(session: Session, values: readonly unknown[]): object[] {
  return changing((queue) => ({ deleted_at: session.nowMs, epoch: queue.epoch + 1 }))(session, values);
}

function toQueue(row: QueueColumns): object {
  return {
    ...pickColumns(row, [
      ...(["id", "team_id", "name", "concurrency", "max_retries", "backoff"] as const),
      ...(["retry_delay_seconds", "retry_max_delay_seconds", "timeout_seconds", "paused"] as const),
      ...(["ordered", "on_failure", "rate", "rate_period", "breaker"] as const),
    ]),
    noRetryStatuses: row.no_retry_statuses ?? [],
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
