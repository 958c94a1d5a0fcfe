import { Problem } from "../../domain/problem.ts";
import type { ChangedTask, DismissedTask, RetriedTask, TaskChanges } from "../../domain/task-changes.ts";
import { LEAN, type RoundCost } from "../../engine/round-cost.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { type Cancelled, cancelTask } from "../../store/tasks/task-cancellations.ts";
import { dismissTask } from "../../store/tasks/task-dismissals.ts";
import { removePendingTask } from "../../store/tasks/task-removals.ts";
import { retryTask } from "../../store/tasks/task-retries.ts";
import { MOST_PER_TURN, turnSize } from "./domain.ts";
import { type BulkTurn, countTurn, lockNextBulk, nextBulkTeams, readRetries, readTurn } from "./store.ts";

/** The maximum delay until a new action is found. */
const LONGEST_NAP_MS = 1_000;
/** Another node processes it, usually for no longer than this. */
const BUSY_NAP_MS = 50;
export const BULK_COST: RoundCost = {
  rows: MOST_PER_TURN,
  bytes: MOST_PER_TURN * LEAN,
  per: "team",
  turns: "each",
};
/** Teams per round. */
const MOST_TOGETHER = 1_000;

export interface BulkWorker {
  /**
   * Gives every team with a due action one turn, regardless of the number of its actions; within a team the longest
   * waiting action runs. Returns the milliseconds until the next round.
   */
  workOnce(): Promise<number>;
}

/** How a task of a team may begin again in a flow, or is refused by its plan. Null: no plan limits it. */
export type Reopening = (
  teamId: number,
) => Promise<((flow: string | null) => Promise<void> | undefined) | null>;

/**
 * The race: several nodes, each of which may crash at any line, must process every task exactly once. So a turn is one
 * transaction: it locks the action's row, which other nodes skip, changes its tasks and counts them. The count is the
 * position of the next turn: neither exists without the other. Only hints follow the commit, and polling finds what a
 * lost hint would have announced.
 */
export function createBulkWorker(deps: {
  readonly database: Database;
  readonly changes: Pick<TaskChanges, "retried" | "dismissed" | "ended" | "removed">;
  readonly reopening: Reopening;
  /** Resolves once no node makes a call of the cancelled task. */
  readonly follow: (cancelled: Cancelled) => Promise<void>;
}): BulkWorker {
  const { database, changes } = deps;

  /** The first tasks of a turn, as many as the plan lets begin again. The others have their turn when there is room. */
  async function admit(sql: Sql, turn: BulkTurn, left: readonly string[]): Promise<Admitted> {
    const reopen = turn.action === "retry" ? await deps.reopening(turn.teamId) : null;
    if (reopen === null) return { ids: left, waitSeconds: 0 };
    const flows = new Map((await readRetries(sql, turn, left)).map(({ id, flow }) => [id, flow]));
    for (const [index, id] of left.entries()) {
      const flow = flows.get(id);
      if (flow === undefined) continue;
      try {
        await reopen(flow);
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 429) throw error;
        return { ids: left.slice(0, index), waitSeconds: error.retryAfterSeconds ?? 0 };
      }
    }
    return { ids: left, waitSeconds: 0 };
  }

  async function takeTurn(teamId: number): Promise<boolean> {
    const taken = await database.transaction(async (sql) => {
      const turn = await lockNextBulk(sql, teamId);
      if (turn === null) return null;
      const left = await readTurn(sql, turn, turnSize(turn));
      if (left.length === 0) throw new Error("A bulk action that runs has no tasks left");
      const { ids, waitSeconds } = await admit(sql, turn, left);
      const changed = await change(sql, turn, ids);
      const { done } = changed;
      await countTurn(sql, turn, {
        done,
        skipped: ids.length - done,
        seconds: Math.max(ids.length / turn.rate, waitSeconds),
      });
      return changed;
    });
    if (taken === null) return false;
    for (const task of taken.retried) changes.retried(task);
    for (const task of taken.dismissed) changes.dismissed(task);
    for (const task of taken.removed) changes.removed(task);
    for (const task of taken.cancelled) {
      changes.ended(task, "cancelled", task.notify);
      // Not awaited: a node that does not answer would cost a second of every turn.
      void deps.follow(task);
    }
    return true;
  }

  return {
    async workOnce() {
      const teams = await nextBulkTeams(database, MOST_TOGETHER);
      const due = teams.filter(({ waitMs }) => waitMs === 0);
      let worked = false;
      for (const { teamId } of due) worked = (await takeTurn(teamId)) || worked;
      if (worked) return 0;
      if (due.length > 0) return BUSY_NAP_MS;
      return Math.min(LONGEST_NAP_MS, teams[0]?.waitMs ?? LONGEST_NAP_MS);
    },
  };
}

interface Admitted {
  readonly ids: readonly string[];
  readonly waitSeconds: number;
}

interface Changed {
  readonly done: number;
  readonly cancelled: readonly Cancelled[];
  readonly retried: readonly RetriedTask[];
  readonly dismissed: readonly DismissedTask[];
  readonly removed: readonly ChangedTask[];
}

/** Each task by the statement for a single one: tasks that do not match its condition are skipped. */
async function change(sql: Sql, turn: BulkTurn, ids: readonly string[]): Promise<Changed> {
  const cancelled: Cancelled[] = [];
  const retried: RetriedTask[] = [];
  const dismissed: DismissedTask[] = [];
  const removed: ChangedTask[] = [];
  for (const id of ids) {
    if (turn.action === "delete") {
      const gone = await removePendingTask(sql, turn, id);
      if (gone !== null) removed.push(gone);
    } else if (turn.action === "cancel") {
      const ended = await cancelTask(sql, turn, id);
      if (ended !== null) cancelled.push(ended);
    } else if (turn.action === "dismiss") {
      const seen = await dismissTask(sql, turn, id);
      if (seen !== null) dismissed.push(seen);
    } else {
      const begun = await retryTask(sql, turn, id, { delaySeconds: 0, priority: null });
      if (begun !== null) retried.push(begun);
    }
  }
  const done = cancelled.length + retried.length + dismissed.length + removed.length;
  return { done, cancelled, retried, dismissed, removed };
}
