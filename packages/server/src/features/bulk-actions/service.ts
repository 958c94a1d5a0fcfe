import { setTimeout as sleep } from "node:timers/promises";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { cutPage, type Page, type PageRequest } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, readCursor } from "../../domain/public-id.ts";
import type { TaskFilter } from "../../domain/task-filter.ts";
import { recordChange } from "../../service/audit/audit.ts";
import { newUuid } from "../../service/new-uuid.ts";
import type { Scan } from "../../service/scan-line.ts";
import { type AskedFilter, reachedBy } from "../../service/tasks/task-list.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { searchTasks } from "../../store/tasks/task-search.ts";
import type { Bulk, BulkAction } from "./domain.ts";
import {
  countRunningBulks,
  findBulk,
  forgetLostPortions,
  forgetPortions,
  insertBulk,
  insertPortion,
  listBulks,
  newestTaskId,
  PORTION,
  stopBulk,
} from "./store.ts";

export interface BulkRequest {
  readonly action: BulkAction;
  readonly filter: AskedFilter;
  readonly rate: number;
  /** The filter as written, for the audit log. */
  readonly said: Readonly<Record<string, unknown>>;
}

export interface BulkService {
  /** The number of matching tasks. */
  count(principal: Principal, filter: AskedFilter, scan: Scan): Promise<number>;
  /** Resolves once its tasks are selected and stored. */
  start(requester: Requester, request: BulkRequest, scan: Scan): Promise<Bulk>;
  get(principal: Principal, id: string): Promise<Bulk>;
  /** Newest first. */
  list(principal: Principal, page: PageRequest): Promise<Page<Bulk>>;
  /** Once this resolves no further task is changed. */
  stop(requester: Requester, id: string): Promise<Bulk>;
}

const LONGEST_REST_MS = 300;
/** Each stores its tasks' ids and takes turns with the others. */
const MOST_RUNNING = 100;

/** Scanned tasks per statement, which takes about a hundredth of a second. */
const SLICE = 5_000;

export function createBulkService(deps: {
  readonly database: Database;
  /** The connection for scans, so that a count takes none from requests. */
  readonly chores: Sql;
  /** Scanned tasks per statement; default: 5,000. */
  readonly slice?: number;
}): BulkService {
  const { database, chores, slice = SLICE } = deps;

  async function get(principal: Principal, id: string): Promise<Bulk> {
    const bulk = await findBulk(database, principal, id);
    if (bulk === null) throw new Problem("bulk_not_found");
    return bulk;
  }

  return {
    get,
    async list(principal, { limit, cursor }) {
      const page = { limit: limit + 1, cursor: readCursor("bulk", cursor) };
      return cutPage(await listBulks(database, principal, page), limit, ({ id }) => formatId("bulk", id));
    },
    async count(principal, asked, scan) {
      const { teamId } = principal;
      let matched = 0;
      for await (const ids of matchingTasks(chores, teamId, reachedBy(principal, asked), slice, scan))
        matched += ids.length;
      return matched;
    },
    async start(requester, { action, filter: asked, rate, said }, scan) {
      const { teamId } = requester;
      await requirePlace(database, teamId);
      const id = newUuid();
      const matching = matchingTasks(chores, teamId, reachedBy(requester, asked), slice, scan);
      // Each portion by itself: a transaction must not wait for turns. Nothing reads them before the action is stored.
      const matched = await keepPortions(chores, teamId, id, matching).catch(async (error) => {
        await forgetPortions(chores, teamId, id);
        throw error;
      });
      scan.give();
      return database.transaction(async (sql) => {
        await requirePlace(sql, teamId);
        await forgetLostPortions(sql, teamId);
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

async function requirePlace(sql: Sql, teamId: number): Promise<void> {
  if ((await countRunningBulks(sql, teamId)) >= MOST_RUNNING)
    throw new Problem("bulks_full", { limit: String(MOST_RUNNING) });
}

/** Every portion but the last is full: a turn's position gives its portion. */
async function keepPortions(
  sql: Sql,
  teamId: number,
  id: string,
  matching: AsyncIterable<readonly string[]>,
): Promise<number> {
  let kept: string[] = [];
  let portions = 0;
  for await (const ids of matching) {
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

/** Oldest first, with a turn for each slice. Tasks created after the start are excluded, so that the scan ends. */
async function* matchingTasks(
  sql: Sql,
  teamId: number,
  filter: TaskFilter,
  slice: number,
  scan: Scan,
): AsyncGenerator<readonly string[]> {
  const newest = await newestTaskId(sql, teamId);
  let after: string | null = null;
  do {
    const beganMs = performance.now();
    const found: Awaited<ReturnType<typeof searchTasks>> = await searchTasks(sql, teamId, filter, {
      order: "asc",
      after,
      limit: slice,
      most: slice,
    });
    yield found.ids.filter((id) => newest !== null && id <= newest);
    after = found.next;
    if (after === null) return;
    // Rests as long as the slice took, to use half a core at most, while another scan has the place.
    scan.give();
    await sleep(Math.min(LONGEST_REST_MS, performance.now() - beganMs));
    await scan.take();
  } while (newest !== null && after < newest);
}
