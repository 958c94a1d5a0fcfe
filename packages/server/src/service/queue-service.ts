import type { Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import {
  DEFAULT_QUEUE,
  QUEUE_DEFAULTS,
  type Queue,
  type QueueSettings,
  type QueueWithStats,
} from "../domain/queue.ts";
import { sendHint } from "../store/hints.ts";
import {
  findQueue,
  insertQueue,
  listQueues,
  markQueueDeleted,
  setQueuePaused,
  updateQueue,
} from "../store/queues.ts";
import type { Database, Sql } from "../store/sql.ts";
import { removePendingOfDeletedQueues } from "../store/task-removals.ts";

export interface QueueService {
  create(principal: Principal, name: string, settings: Partial<QueueSettings>): Promise<Queue>;
  list(principal: Principal): Promise<readonly QueueWithStats[]>;
  get(principal: Principal, name: string): Promise<QueueWithStats>;
  update(principal: Principal, name: string, changes: Partial<QueueSettings>): Promise<Queue>;
  setPaused(principal: Principal, name: string, paused: boolean): Promise<Queue>;
  remove(principal: Principal, name: string): Promise<void>;
}

/** Pending tasks of a deleted queue are removed in batches, so that no statement runs for long. */
const REMOVAL_BATCH = 5_000;

export function createQueueService(deps: {
  readonly database: Database;
  readonly nodeId: () => number;
}): QueueService {
  const { database } = deps;

  function found<T>(queue: T | null, name: string): T {
    if (queue === null) throw new Problem("queue_not_found", { name });
    return queue;
  }

  /** Changes a queue and tells every node's dispatcher, in one commit. */
  function change<T>(principal: Principal, name: string, work: (sql: Sql) => Promise<T | null>): Promise<T> {
    return database.transaction(async (sql) => {
      const changed = found(await work(sql), name);
      await sendHint(sql, { kind: "queue", teamId: principal.teamId, queue: name }, 0);
      return changed;
    });
  }

  return {
    async create({ teamId }, name, settings) {
      const queue = await insertQueue(database, teamId, name, { ...QUEUE_DEFAULTS, ...settings });
      if (queue === null) throw new Problem("queue_exists", { name });
      return queue;
    },
    list: ({ teamId }) => listQueues(database, teamId),
    get: async ({ teamId }, name) => found(await findQueue(database, teamId, name), name),
    update: (principal, name, changes) =>
      change(principal, name, (sql) => updateQueue(sql, principal.teamId, name, changes)),
    setPaused: (principal, name, paused) =>
      change(principal, name, (sql) => setQueuePaused(sql, principal.teamId, name, paused)),
    async remove(principal, name) {
      if (name === DEFAULT_QUEUE) throw new Problem("queue_default_kept");
      const { teamId } = principal;
      const queueId = await change(principal, name, (sql) => markQueueDeleted(sql, teamId, name));
      // Nothing is claimed from it any more. If we die here the janitor goes on.
      const batch = { size: REMOVAL_BATCH, only: { teamId, queueId } };
      while ((await removePendingOfDeletedQueues(database, batch, deps.nodeId())) > 0);
    },
  };
}
