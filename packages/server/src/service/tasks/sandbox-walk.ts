import { attemptMs, endSimulated, expireSimulated, judgeSimulated } from "../../domain/simulation.ts";
import { isEnded, type Simulation } from "../../domain/task.ts";
import { closeAttempt } from "../../domain/verdict.ts";
import type { Database, Sql } from "../../store/sql.ts";
import {
  beginSimulated,
  endWaiting,
  lockDueSteps,
  NOW,
  planSteps,
  type SandboxTime,
  setToSandboxTime,
  untilNextStepMs,
  type Walking,
} from "../../store/tasks/simulations.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { settleAttempts } from "../../store/tasks/task-settlements.ts";

/** Steps per transaction. */
const BATCH = 100;
/** The maximum delay until another node's task is found. */
const LONGEST_NAP_MS = 1_000;
/** Another node processes the due steps, usually for no longer than this. */
const BUSY_NAP_MS = 20;

export interface SandboxWalk {
  /** Takes a batch of due steps. Returns their number. */
  step(time: SandboxTime): Promise<number>;
  /** Takes every due step. Returns the milliseconds until the next. */
  walkOnce(): Promise<number>;
}

type Simulated = Walking & { readonly simulation: Simulation };

function isSimulated(walking: Walking): walking is Simulated {
  return walking.simulation !== null;
}

/** A taken step, and the time until the next. */
interface Step {
  readonly claim: Walking["claim"];
  readonly waitMs: number | null;
}

/**
 * Moves sandbox tasks through their states. A batch of steps is one transaction: it locks due steps, which other nodes
 * skip, changes the tasks by the statements that settle real attempts, and plans the next steps. A node that crashes in
 * between has changed nothing. No state is in memory, so a step after a month works like one after a second.
 */
export function createSandboxWalk(deps: {
  readonly database: Database;
  readonly random: () => number;
  readonly nowMs: () => number;
  /** Called at the end; `notify`: it has a notification. */
  readonly onEnded: (taskId: string, notify: boolean) => void;
}): SandboxWalk {
  const { database } = deps;

  async function begin(sql: Sql, pending: readonly Simulated[]): Promise<Step[]> {
    await beginSimulated(sql, pending);
    return pending.map(({ claim, simulation }) => ({
      claim,
      waitMs: attemptMs({ simulation, trial: claim }),
    }));
  }

  async function settle(sql: Sql, active: readonly Simulated[]): Promise<Step[]> {
    const judged = active.map(({ claim, simulation, aheadMs }) => ({
      claim,
      ...judgeSimulated({ simulation, trial: claim }, new Date(deps.nowMs() + aheadMs), deps.random()),
    }));
    const settlements = judged.map(({ claim, outcome, verdict }) => ({
      claim,
      verdict,
      attempt: closeAttempt(claim.attempt, claim.attemptStartedAt, outcome),
    }));
    const settled = await settleAttempts(sql, settlements, NO_WORKER);
    await setToSandboxTime(sql, active);
    // A retry in a deleted queue ends the task.
    return judged.map(({ claim, waitMs }, index) => ({
      claim,
      waitMs: settled[index]?.status === "failed" ? null : waitMs,
    }));
  }

  async function end(sql: Sql, waiting: readonly Simulated[]): Promise<Step[]> {
    await endWaiting(
      sql,
      waiting.map((walking) => ({ walking, end: endSimulated({ ...walking, trial: walking.claim }) })),
    );
    await setToSandboxTime(sql, waiting);
    return waiting.map(({ claim }) => ({ claim, waitMs: null }));
  }

  async function expire(sql: Sql, late: readonly Walking[]): Promise<Step[]> {
    await endWaiting(
      sql,
      late.map((walking) => ({ walking, end: expireSimulated(walking.expiresInSeconds) })),
    );
    await setToSandboxTime(sql, late);
    return late.map(({ claim }) => ({ claim, waitMs: null }));
  }

  async function step(time: SandboxTime): Promise<number> {
    const taken = await database.transaction(async (sql) => {
      const due = await lockDueSteps(sql, time, BATCH);
      if (due.length === 0) return null;
      const of = (...statuses: Walking["status"][]) =>
        due.filter(isSimulated).filter(({ status }) => statuses.includes(status));
      const isOver = ({ status }: Walking) => isEnded(status);
      const over = due.filter(isOver);
      const steps = over.map(({ claim }): Step => ({ claim, waitMs: null }));
      const late = due.filter((walking) => walking.simulation === null && !isOver(walking));
      if (late.length > 0) steps.push(...(await expire(sql, late)));
      for (const [work, walking] of [
        [begin, of("pending")],
        [settle, of("active")],
        [end, of("waiting", "polling")],
      ] as const)
        if (walking.length > 0) steps.push(...(await work(sql, walking)));
      await planSteps(sql, time, steps);
      const ended = new Set(
        steps.slice(over.length).flatMap(({ claim, waitMs }) => (waitMs === null ? claim : [])),
      );
      return { count: due.length, ended: due.filter(({ claim }) => ended.has(claim)) };
    });
    if (taken === null) return 0;
    for (const { claim, notify } of taken.ended) deps.onEnded(claim.id, notify);
    return taken.count;
  }

  return {
    step,
    async walkOnce() {
      for (;;) {
        const untilMs = await untilNextStepMs(database);
        if (untilMs === null) return LONGEST_NAP_MS;
        // A timer may fire slightly early.
        if (untilMs > 0) return Math.min(LONGEST_NAP_MS, Math.ceil(untilMs) + 1);
        if ((await step(NOW)) === 0) return BUSY_NAP_MS;
      }
    },
  };
}
