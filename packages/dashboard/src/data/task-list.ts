import type { TaskSummary } from "@bellhop/sdk";
import { useEffect, useMemo, useState } from "react";
import { tellProblem } from "../parts/toast.tsx";
import { bellhop } from "./client.ts";
import type { Total } from "./format.ts";
import { live, useLiveQuery } from "./live.ts";
import { queryOf, type TaskSearch } from "./task-search.ts";

const PAGE = 100;

type TaskPage = Awaited<ReturnType<typeof bellhop.tasks.page>>;

interface Head {
  readonly tasks: readonly TaskSummary[];
  readonly nextCursor: string | null;
}

/**
 * The tasks that match, newest first. While the reader holds still (scrolls or selects) no row moves: rows that are in
 * sight get their new state, and new ones wait behind their number. Older pages are fetched as they are reached.
 */
export function useTaskList(search: TaskSearch, isHeld: boolean) {
  const key = JSON.stringify(search);
  const { isPaused } = live.use();
  const fresh = useLiveQuery(["tasks", key], ({ signal }) =>
    bellhop.tasks.page({ ...queryOf(search), limit: PAGE }, { signal }),
  );
  const [kept, keep] = useState<{ key: string; head: Head; older: readonly TaskSummary[] } | null>(null);
  const [isFetching, setFetching] = useState(false);
  const answer = fresh.isPlaceholderData ? undefined : fresh.data;
  const freshHead = useMemo<Head | null>(
    () => (answer ? { tasks: answer.tasks, nextCursor: answer.pagination.nextCursor } : null),
    [answer],
  );
  const isKept = kept !== null && kept.key === key && (isHeld || isPaused);

  useEffect(() => {
    if (freshHead !== null && !isKept) keep({ key, head: freshHead, older: [] });
  }, [freshHead, isKept, key]);

  const shown = kept !== null && kept.key === key ? kept : null;
  const head = isKept ? kept.head : (freshHead ?? shown?.head ?? null);
  const older = isKept ? kept.older : NONE;
  const rows = useMemo(
    () => refreshed([...(head?.tasks ?? []), ...older], freshHead),
    [head, older, freshHead],
  );
  const isNewer = (task: TaskSummary) => !head?.tasks.some(({ id }) => id === task.id);
  const newCount = isKept ? (freshHead?.tasks.filter(isNewer).length ?? 0) : 0;

  return {
    rows,
    error: fresh.error,
    isReady: head !== null,
    total: totalOf(answer ?? fresh.data),
    newCount,
    hasOlder: (head?.nextCursor ?? null) !== null,
    showNew: () => {
      if (freshHead !== null) keep({ key, head: freshHead, older: [] });
    },
    async fetchOlder() {
      if (isFetching || head === null || head.nextCursor === null) return;
      setFetching(true);
      try {
        const page = await bellhop.tasks.page({ ...queryOf(search), limit: PAGE, cursor: head.nextCursor });
        const next = { tasks: head.tasks, nextCursor: page.pagination.nextCursor };
        keep({ key, head: next, older: [...older, ...page.tasks] });
      } catch (error) {
        tellProblem(error);
      } finally {
        setFetching(false);
      }
    },
  };
}

const NONE: readonly TaskSummary[] = [];

function totalOf(page: TaskPage | undefined): Total | null {
  if (page === undefined) return null;
  const { total: count, totalIsCapped: isCapped = false } = page.pagination;
  return { count, isCapped };
}

/** The same rows in the same order, each as it was seen last. */
function refreshed(rows: readonly TaskSummary[], fresh: Head | null): readonly TaskSummary[] {
  const known = new Map(fresh?.tasks.map((task) => [task.id, task]));
  return rows.map((row) => known.get(row.id) ?? row);
}
