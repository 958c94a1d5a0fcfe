import { invalid, mustBe } from "../../domain/complaint.ts";
import { Problem } from "../../domain/problem.ts";
import { chooseSandbox, type Reach } from "../../domain/reach.ts";
import type { TaskSummary } from "../../domain/task.ts";
import { needsSearch, type Order, type TaskFilter } from "../../domain/task-filter.ts";
import type { Sql } from "../../store/sql.ts";
import { countListed, countTasks, listTasks, readSummaries } from "../../store/tasks/task-reads.ts";
import { countMatches, searchTasks } from "../../store/tasks/task-search.ts";
import { searchDigest, type TaskCursor } from "./task-cursor.ts";

/** A caller's filter: the credential decides about the sandbox unless it is given. */
export type AskedFilter = Omit<TaskFilter, "sandbox"> & { readonly sandbox: boolean | null };

export interface TaskQuery extends AskedFilter {
  readonly order: Order;
  readonly limit: number;
  readonly offset: number;
  readonly cursor: TaskCursor | null;
}

export interface TaskPage {
  readonly tasks: readonly TaskSummary[];
  readonly total: number;
  /** There may be more than `total`. */
  readonly totalIsCapped: boolean;
  readonly hasMore: boolean;
  /** The id after which the next page begins. */
  readonly next: string | null;
  /** For the cursors of this search. */
  readonly search: string;
}

/** Totals without a tally are counted up to this number. */
const MOST_COUNTED = 10_000;

/** Tasks scanned for a page at first: few, because most pages are then full. */
const FIRST_LOOK = 1_000;

/**
 * Then for the rest: what can be scanned in a tenth of a second. By tag or schedule each task is looked up by id, which
 * reads four pages where a scan reads the next row.
 */
const MOST_LOOKED_AT = { walked: 10_000, listed: 2_500 };

export async function listPage(sql: Sql, reach: Reach, query: TaskQuery): Promise<TaskPage> {
  const { order, limit: _limit, offset, cursor, ...asked } = query;
  const filter = reachedBy(reach, asked);
  const search = searchDigest(reach, filter, order);
  if (cursor !== null && cursor.search !== search) throw new Problem("cursor_foreign");
  if (!needsSearch(filter)) return { ...(await plainPage(sql, reach.teamId, filter, query)), search };
  if (offset > 0)
    throw invalid([mustBe("offset", "0 where tasks are searched: use cursor to go on to the next page")]);
  const [page, counted] = await Promise.all([
    searchPage(sql, reach.teamId, filter, query),
    matchCount(sql, reach.teamId, filter),
  ]);
  return { ...page, ...counted, search };
}

export function reachedBy(reach: Reach, asked: AskedFilter): TaskFilter {
  return { ...asked, sandbox: chooseSandbox(reach, asked.sandbox) };
}

async function plainPage(sql: Sql, teamId: number, filter: TaskFilter, query: TaskQuery) {
  const { limit, offset, order } = query;
  const after = query.cursor?.after ?? null;
  const isTallied = filter.createdAfter === null && filter.createdBefore === null;
  const [found, counted] = await Promise.all([
    // One more than requested shows whether there is a next page.
    listTasks(sql, teamId, filter, { limit: limit + 1, offset, after, order }),
    (isTallied ? talliedCount : listedCount)(sql, teamId, filter),
  ]);
  const tasks = found.slice(0, limit);
  const hasMore = found.length > limit;
  return { tasks, ...counted, hasMore, next: hasMore ? (tasks.at(-1)?.id ?? null) : null };
}

async function searchPage(sql: Sql, teamId: number, filter: TaskFilter, { limit, order, cursor }: TaskQuery) {
  const ids: string[] = [];
  let after = cursor?.after ?? null;
  for (const most of [FIRST_LOOK, mostLookedAt(filter)]) {
    const found = await searchTasks(sql, teamId, filter, { order, after, limit: limit - ids.length, most });
    ids.push(...found.ids);
    after = found.next;
    if (after === null || ids.length === limit) break;
  }
  const tasks = await readSummaries(sql, teamId, ids);
  return { tasks, hasMore: after !== null, next: after };
}

async function talliedCount(sql: Sql, teamId: number, filter: TaskFilter) {
  return { total: await countTasks(sql, teamId, filter), totalIsCapped: false };
}

async function listedCount(sql: Sql, teamId: number, filter: TaskFilter) {
  return capped(await countListed(sql, teamId, filter, MOST_COUNTED + 1));
}

async function matchCount(sql: Sql, teamId: number, filter: TaskFilter) {
  const { total, isWhole } = await countMatches(sql, teamId, filter, MOST_COUNTED);
  return capped(total, isWhole);
}

function mostLookedAt({ tags, scheduleId }: TaskFilter): number {
  return tags === null && scheduleId === null ? MOST_LOOKED_AT.walked : MOST_LOOKED_AT.listed;
}

function capped(total: number, isWhole = true) {
  return { total: Math.min(total, MOST_COUNTED), totalIsCapped: !isWhole || total > MOST_COUNTED };
}
