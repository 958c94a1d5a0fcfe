import { invalid } from "../../domain/complaint.ts";
import type { QueueEventType } from "../../domain/event.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { limitComplaint, requireRoom, type Terms } from "../../domain/limits.ts";
import { cutPage, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import {
  DEFAULT_QUEUE,
  QUEUE_DEFAULTS,
  type Queue,
  type QueueSettings,
  type QueueWithStats,
  withOrder,
  withRate,
} from "../../domain/queue.ts";
import { chooseSandbox } from "../../domain/reach.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { closeBreakers } from "../../store/tasks/breakers.ts";
import { writeQueueEvent } from "../../store/tasks/event-writes.ts";
import { hintText, sendHints } from "../../store/tasks/hints.ts";
import { MOST_JOINING, resetLine } from "../../store/tasks/ordered-lines.ts";
import {
  findQueue,
  insertQueue,
  listQueues,
  lockQueueOrder,
  markQueueDeleted,
  setQueueBreaker,
  setQueuePaused,
  setQueueRate,
  updateQueue,
} from "../../store/tasks/queues.ts";
import { removePendingOfDeletedQueues } from "../../store/tasks/task-removals.ts";
import { holdTeamUsage } from "../../store/team-usage.ts";
import { type Change, recordChange } from "../audit/audit.ts";
import { createTeamTurns, type InTeamTurn } from "../team-turns.ts";

export interface QueueService {
  create(requester: Requester, name: string, settings: Partial<QueueSettings>): Promise<Queue>;
  /** By name; the cursor is a name. `sandbox` selects the counted tasks; null: by the credential. */
  list(principal: Principal, page?: PageRequest, sandbox?: boolean | null): Promise<Page<QueueWithStats>>;
  get(principal: Principal, name: string): Promise<QueueWithStats>;
  update(requester: Requester, name: string, changes: Partial<QueueSettings>): Promise<Queue>;
  setPaused(requester: Requester, name: string, paused: boolean): Promise<Queue>;
  /** Resolves with the number of deleted pending tasks, without those of the sandbox. */
  remove(requester: Requester, name: string): Promise<number>;
}

/** Pending tasks of a deleted queue are deleted in batches, between which other teams take turns. */
const REMOVAL_BATCH = 500;

export function createQueueService(deps: {
  readonly database: Database;
  /** Queue events may have been stored. */
  readonly onChanged?: () => void;
  /** Default: those of this service alone. */
  readonly inTeamTurn?: InTeamTurn;
}): QueueService {
  const { database, onChanged = () => {}, inTeamTurn = createTeamTurns() } = deps;

  function found<T>(queue: T | null, name: string): T {
    if (queue === null) throw new Problem("queue_not_found", { name });
    return queue;
  }

  /**
   * Creates or changes a queue, records it, and notifies every node and the subscribers, in one commit. Null if
   * nothing changed.
   */
  async function change<Changed extends Queue | null>(
    requester: Requester,
    queue: string,
    recorded: Omit<Change, "target">,
    type: QueueEventType,
    work: (sql: Sql) => Promise<Changed>,
  ): Promise<Changed> {
    const done = await database.transaction(async (sql) => {
      const changed = await work(sql);
      if (changed === null) return changed;
      await recordChange(sql, requester, { ...recorded, target: queue });
      await writeQueueEvent(sql, type, changed);
      await sendHints(sql, [hintText({ kind: "queue", teamId: requester.teamId, queue }, 0)]);
      return changed;
    });
    if (done !== null) onChanged();
    return done;
  }

  return {
    async create(requester, name, settings) {
      requireWithinPlan(requester, settings);
      const chosen = { ...QUEUE_DEFAULTS, ...withRate(withOrder(settings, QUEUE_DEFAULTS), QUEUE_DEFAULTS) };
      const recorded = { action: "queue.created", detail: namedSettings(settings) } as const;
      return change(requester, name, recorded, recorded.action, async (sql) => {
        if (requester.limits.queues !== null)
          requireRoom(requester, "queues", (await holdTeamUsage(sql, requester)).queues);
        const made = await insertQueue(sql, requester.teamId, name, chosen);
        if (made === null) throw new Problem("queue_exists", { name });
        return updateBreaker(sql, await updateRate(sql, made, chosen), chosen.breaker);
      });
    },
    async list(principal, { limit, cursor } = WHOLE_LIST, sandbox = null) {
      const environment = chooseSandbox(principal, sandbox) ? "test" : "live";
      const reach = { teamId: principal.teamId, environment } as const;
      const found = await listQueues(database, reach, { limit: limit + 1, cursor });
      return cutPage(found, limit, ({ name }) => name);
    },
    get: async (principal, name) => found(await findQueue(database, principal, name), name),
    async update(requester, name, changes) {
      requireWithinPlan(requester, changes);
      if (Object.keys(changes).length === 0) return found(await findQueue(database, requester, name), name);
      const recorded = { action: "queue.updated", detail: namedSettings(changes) };
      const queue = await change(requester, name, recorded, "queue.changed", (sql) =>
        updateInOrder(sql, requester.teamId, name, changes),
      );
      return found(queue, name);
    },
    async setPaused(requester, name, paused) {
      const recorded = { action: paused ? "queue.paused" : "queue.resumed" } as const;
      const queue = await change(requester, name, recorded, recorded.action, (sql) =>
        setQueuePaused(sql, requester.teamId, name, paused),
      );
      return queue ?? found(await findQueue(database, requester, name), name);
    },
    async remove(requester, name) {
      if (name === DEFAULT_QUEUE) throw new Problem("queue_default_kept");
      const { teamId } = requester;
      const recorded = { action: "queue.deleted" };
      const { id: queueId } = found(
        await change(requester, name, recorded, "queue.deleted", (sql) =>
          markQueueDeleted(sql, teamId, name),
        ),
        name,
      );
      // No task of it is claimed any more. If the process crashes here, the janitor continues.
      const batch = { size: REMOVAL_BATCH, only: { teamId, queueId } };
      let removed = 0;
      for (;;) {
        const last = await inTeamTurn(teamId, () => removePendingOfDeletedQueues(database, batch));
        if (last.removed === 0) return removed;
        removed += last.live;
      }
    },
  };
}

/** A line starts again when a queue becomes ordered, and is forgotten when it no longer is. */
async function updateInOrder(
  sql: Sql,
  teamId: number,
  name: string,
  changes: Partial<QueueSettings>,
): Promise<Queue | null> {
  const current = await lockQueueOrder(sql, teamId, name);
  if (current === null) return null;
  const chosen = withRate(withOrder(changes, current), current);
  const updated = await updateQueue(sql, teamId, name, chosen);
  const queue = updated && (await updateBreaker(sql, await updateRate(sql, updated, chosen), chosen.breaker));
  if (queue === null || queue.ordered === current.ordered) return queue;
  if (await resetLine(sql, queue)) return queue;
  const reason = `ordered: more than ${MOST_JOINING} tasks with a flow wait in this queue; it can be ordered once there are fewer`;
  throw new Problem("invalid", { reason });
}

async function updateRate(
  sql: Sql,
  queue: Queue,
  { rate = queue.rate, ratePeriod = queue.ratePeriod }: Partial<QueueSettings>,
): Promise<Queue> {
  if (rate === queue.rate && ratePeriod === queue.ratePeriod) return queue;
  return (await setQueueRate(sql, queue, { rate, ratePeriod })) ?? queue;
}

/** Without a breaker nothing is held back. */
async function updateBreaker(
  sql: Sql,
  queue: Queue,
  breaker: QueueSettings["breaker"] | undefined,
): Promise<Queue> {
  if (breaker === undefined || (breaker === null && queue.breaker === null)) return queue;
  if (breaker === null)
    await closeBreakers(sql, { teamId: queue.teamId, queueId: queue.id, host: null }, true);
  return (await setQueueBreaker(sql, queue, breaker)) ?? queue;
}

function requireWithinPlan(terms: Terms, settings: Partial<QueueSettings>): void {
  const complaints = [
    limitComplaint(terms, "retries", "max_retries", settings.maxRetries),
    limitComplaint(terms, "retryDelaySeconds", "retry_delay", settings.retryDelaySeconds),
    limitComplaint(terms, "timeoutSeconds", "timeout", settings.timeoutSeconds),
  ].filter((complaint) => complaint !== null);
  if (complaints.length > 0) throw invalid(complaints);
}

/** With the API's names: the record is for callers. */
function namedSettings(settings: Partial<QueueSettings>): Record<string, unknown> {
  const { concurrency, maxRetries, backoff, retryDelaySeconds, timeoutSeconds } = settings;
  const { retryMaxDelaySeconds, noRetryStatuses, ordered, onFailure, rate, ratePeriod, breaker } = settings;
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(maxRetries !== undefined && { max_retries: maxRetries }),
    ...(backoff !== undefined && { retry_backoff: backoff }),
    ...(retryDelaySeconds !== undefined && { retry_delay: retryDelaySeconds }),
    ...(retryMaxDelaySeconds !== undefined && { retry_max_delay: retryMaxDelaySeconds }),
    ...(noRetryStatuses !== undefined && { no_retry_statuses: noRetryStatuses }),
    ...(timeoutSeconds !== undefined && { timeout: timeoutSeconds }),
    ...(ordered !== undefined && { ordered }),
    ...(onFailure !== undefined && { on_failure: onFailure }),
    ...(rate !== undefined && { rate: rate ?? false }),
    ...(ratePeriod !== undefined && { rate_period: ratePeriod }),
    ...(breaker !== undefined && { breaker: breaker ?? false }),
  };
}
