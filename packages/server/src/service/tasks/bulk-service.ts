import type { Bulk, BulkAction } from "../../domain/bulk.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import type { TaskFilter } from "../../domain/task-filter.ts";
import type { Database, Sql } from "../../store/sql.ts";
import {
  countRunningBulks,
  findBulk,
  insertBulk,
  insertPortion,
  newestTaskId,
  PORTION,
  stopBulk,
} from "../../store/tasks/bulks.ts";
import { searchTasks } from "../../store/tasks/task-search.ts";
import { recordChange } from "../audit/audit.ts";
import { newUuid } from "../new-uuid.ts";
import { type AskedFilter, reachedBy } from "./task-list.ts";

export interface BulkRequest {
  readonly action: BulkAction;
  readonly filter: AskedFilter;
  readonly rate: number;
  /** The filter as the caller wrote it, for the audit log. */
  readonly said: Readonly<Record<string, unknown>>;
}

export interface BulkService {
  /** How many tasks the filter fits at this moment. */
  count(principal: Principal, filter: AskedFilter): Promise<number>;
  /** Resolves once it is known which tasks it is about, and that is on disk. */
  start(requester: Requester, request: BulkRequest): Promise<Bulk>;
  get(principal: Principal, id: string): Promise<Bulk>;
  /** Once this resolves no further task is touched. */
  stop(requester: Requester, id: string): Promise<Bulk>;
}

/** Each keeps its tasks' ids, and takes its turns beside the others. */
const MOST_RUNNING = 100;

/** Tasks that are looked at in one statement: it takes a few hundredths of a second. */
const MOST_LOOKED_AT = 20_000;

export function createBulkService({ database }: { readonly database: Database }): BulkService {
  async function get(principal: Principal, id: string): Promise<Bulk> {
    const bulk = await findBulk(database, principal, id);
    if (bulk === null) throw new Problem("bulk_not_found");
    return bulk;
  }

  return {
    get,
    async count(principal, asked) {
      let matched = 0;
      for await (const ids of matchingTasks(database, principal.teamId, reachedBy(principal, asked)))
        matched += ids.length;
      return matched;
    },
    start(requester, { action, filter: asked, rate, said }) {
      const { teamId } = requester;
      const filter = reachedBy(requester, asked);
      return database.transaction(async (sql) => {
        if ((await countRunningBulks(sql, teamId)) >= MOST_RUNNING)
          throw new Problem("bulks_full", { limit: String(MOST_RUNNING) });
        const id = newUuid();
        const matched = await keepPortions(sql, teamId, id, filter);
        const bulk = await insertBulk(sql, requester, { id, action, rate, matched });
        await recordChange(sql, requester, {
          action: "bulk.started",
          target: formatId("bulk", id),
          detail: { action, filter: said, rate, matched },
        });
        return bulk;
      });
    },
    async stop(requester, id) {
      const stopped = await database.transaction(async (sql) => {
        const bulk = await stopBulk(sql, requester, id);
        if (bulk !== null)
          await recordChange(sql, requester, { action: "bulk.stopped", target: formatId("bulk", id) });
        return bulk;
      });
      if (stopped !== null) return stopped;
      const { status } = await get(requester, id);
      throw new Problem("bulk_ended", { status });
    },
  };
}

/** Every portion but the last is full: where a turn's tasks are is told by their number alone. */
async function keepPortions(sql: Sql, teamId: number, id: string, filter: TaskFilter): Promise<number> {
  let kept: string[] = [];
  let portions = 0;
  for await (const ids of matchingTasks(sql, teamId, filter)) {
    kept.push(...ids);
    while (kept.length >= PORTION) {
      await insertPortion(sql, teamId, id, portions, kept.slice(0, PORTION));
      kept = kept.slice(PORTION);
      portions += 1;
    }
  }
  if (kept.length > 0) await insertPortion(sql, teamId, id, portions, kept);
  return portions * PORTION + kept.length;
}

/** The oldest first. None that was created after the look began: there might be no end to them. */
async function* matchingTasks(
  sql: Sql,
  teamId: number,
  filter: TaskFilter,
): AsyncGenerator<readonly string[]> {
  const newest = await newestTaskId(sql, teamId);
  let after: string | null = null;
  do {
    const found: Awaited<ReturnType<typeof searchTasks>> = await searchTasks(sql, teamId, filter, {
      order: "asc",
      after,
      limit: MOST_LOOKED_AT,
      most: MOST_LOOKED_AT,
    });
    yield found.ids.filter((id) => newest !== null && id <= newest);
    after = found.next;
  } while (after !== null && newest !== null && after < newest);
}
