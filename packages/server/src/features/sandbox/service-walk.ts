import { attemptMs, endSimulated, expireSimulated, judgeSimulated } from "../../domain/simulation.ts";
import { isEnded, type Simulation } from "../../domain/task.ts";
import type { ChangedTask, Ending, TaskChanges } from "../../domain/task-changes.ts";
import { closeAttempt } from "../../domain/verdict.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { wakeHeldSandboxTasks, wakeSandboxFlow } from "../../store/tasks/sandbox-flows.ts";
import { NO_WORKER } from "../../store/tasks/tallies.ts";
import { settleAttempts } from "../../store/tasks/task-settlements.ts";
import { serveSandboxFlow } from "./service-flows.ts";
import {
  beginSimulated,
  endWaiting,
  lockDueSteps,
  NOW,
  planSteps,
  type SandboxTime,
  type SimulatedEnd,
  setToSandboxTime,
  untilNextStepMs,
  type Walking,
} from "./store.ts";

/** Steps per transaction. */
export const STEPS_TOGETHER = 100;
/** Flows per transaction: each may let many tasks begin. */
export const FLOWS_TOGETHER = 10;
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

/** The first of these steps. The others stay due, because a step is not complete before the flow of its task is served. */
function ofFewFlows(due: readonly Walking[]): readonly Walking[] {
  const flows = new Set<string>();
  for (const [index, { flow, claim }] of due.entries()) {
    if (flow !== null) flows.add(`${claim.teamId}/${flow}`);
    if (flows.size > FLOWS_TOGETHER) return due.slice(0, index);
  }
  return due;
}

/** A step that was taken. */
interface Step {
  readonly claim: Pick<Walking["claim"], "teamId" | "id" | "queueId">;
  /** Until the next step; null if there is none. */
  readonly waitMs: number | null;
  /** What became of the task by this step, where it ended or its attempt failed. */
  readonly change?: Ending | "retrying";
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
  readonly changes: Pick<TaskChanges, "retrying" | "ended" | "subscribe">;
}): SandboxWalk {
  const { database } = deps;
  /** A flow was perhaps not woken after a change: by a node that crashed before this one started, or here. */
  let mayHaveMissed = true;

  /** A user ended it: it may have had a place in its flow, or held the line. */
  function onEnded({ teamId, flow, sandbox }: ChangedTask): void {
    if (!sandbox || flow == null) return;
    wakeSandboxFlow(database, teamId, flow).catch(() => {
      mayHaveMissed = true;
    });
  }

  async function wakeMissed(): Promise<void> {
    if (!mayHaveMissed) return;
    mayHaveMissed = false;
    try {
      await wakeHeldSandboxTasks(database);
    } catch (error) {
      mayHaveMissed = true;
      throw error;
    }
  }

  deps.changes.subscribe({ ended: onEnded, removed: onEnded, dismissed: onEnded });

  /** Tasks with a flow begin when its limits let them, and those that waited for the end of another follow it. */
  async function serveFlows(sql: Sql, time: SandboxTime, due: readonly Walking[]): Promise<Step[]> {
    const flows = new Map(
      due.flatMap(({ flow, claim: { teamId }, aheadMs }) =>
        flow === null ? [] : [[`${teamId}/${flow}`, { teamId, key: flow, aheadMs, requestMs: time.aheadMs }]],
      ),
    );
    const steps: Step[] = [];
    // One order for all, against deadlocks.
    for (const [, flow] of [...flows].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const { begun, held } = await serveSandboxFlow(sql, flow);
      // Only the keys: the calls of one flow are in memory at a time.
      for (const { claim, simulation } of begun.filter(isSimulated)) {
        const { teamId, id, queueId } = claim;
        steps.push({ claim: { teamId, id, queueId }, waitMs: attemptMs({ simulation, trial: claim }) });
      }
      for (const { id, waitMs } of held)
        steps.push({ claim: { teamId: flow.teamId, id, queueId: 0 }, waitMs });
    }
    return steps;
  }

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
    return judged.map(({ claim, verdict, waitMs }, index): Step => {
      if (verdict.kind === "completed") return { claim, waitMs, change: "completed" };
      if (verdict.kind === "failed") return { claim, waitMs, change: verdict.reason };
      // A retry whose queue was deleted meanwhile has ended.
      if (settled[index]?.status === "failed") return { claim, waitMs: null, change: "queue_deleted" };
      return verdict.kind === "retry" ? { claim, waitMs, change: "retrying" } : { claim, waitMs };
    });
  }

  function end(sql: Sql, waiting: readonly Simulated[]): Promise<Step[]> {
    return endAll(
      sql,
      waiting.map((walking) => ({ walking, end: endSimulated({ ...walking, trial: walking.claim }) })),
    );
  }

  function expire(sql: Sql, late: readonly Walking[]): Promise<Step[]> {
    return endAll(
      sql,
      late.map((walking) => ({ walking, end: expireSimulated(walking.expiresInSeconds) })),
    );
  }

  async function endAll(sql: Sql, ends: readonly SimulatedEnd[]): Promise<Step[]> {
    await endWaiting(sql, ends);
    await setToSandboxTime(
      sql,
      ends.map(({ walking }) => walking),
    );
    return ends.map(({ walking: { claim }, end: { reason } }) => ({
      claim,
      waitMs: null,
      change: reason ?? "completed",
    }));
  }

  async function step(time: SandboxTime): Promise<number> {
    const taken = await database.transaction(async (sql) => {
      const due = ofFewFlows(await lockDueSteps(sql, time, STEPS_TOGETHER));
      if (due.length === 0) return null;
      const of = (...statuses: Walking["status"][]) =>
        due.filter(isSimulated).filter(({ status }) => statuses.includes(status));
      const isOver = ({ status }: Walking) => isEnded(status);
      const over = due.filter(isOver);
      const steps = over.map(({ claim }): Step => ({ claim, waitMs: null }));
      const late = due.filter((walking) => walking.simulation === null && !isOver(walking));
      if (late.length > 0) steps.push(...(await expire(sql, late)));
      for (const [work, walking] of [
        [begin, of("pending").filter(({ flow }) => flow === null)],
        [settle, of("active")],
        [end, of("waiting", "polling")],
      ] as const)
        if (walking.length > 0) steps.push(...(await work(sql, walking)));
      // A held task has no step, unless its flow says when.
      const arrived = of("pending").filter(({ flow }) => flow !== null);
      steps.push(...arrived.map(({ claim }): Step => ({ claim, waitMs: null })));
      await planSteps(sql, time, steps);
      await planSteps(sql, time, await serveFlows(sql, time, due));
      return { due, steps };
    });
    if (taken === null) return 0;
    const notified = new Set<Step["claim"]>(
      taken.due.filter(({ notify }) => notify).map(({ claim }) => claim),
    );
    for (const { claim, change } of taken.steps) {
      const { teamId, id, queueId } = claim;
      const task = { teamId, id, queueId, sandbox: true };
      if (change === "retrying") deps.changes.retrying(task);
      else if (change !== undefined) deps.changes.ended(task, change, notified.has(claim));
    }
    return taken.due.length;
  }

  return {
    step,
    async walkOnce() {
      await wakeMissed();
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
