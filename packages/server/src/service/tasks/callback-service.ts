import { Problem } from "../../domain/problem.ts";
import type { Task, TaskResult } from "../../domain/task.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import type { Sql } from "../../store/sql.ts";
import { callbackStatus, resolveCallback } from "../../store/tasks/callbacks.ts";
import { findTask } from "../../store/tasks/task-reads.ts";
import { type CallbackLimit, createCallbackLimit } from "../access/hit-limit.ts";
import { hashCallbackId, isCallbackId } from "./callback-id.ts";

/** A callback may arrive before the answer to our first call. */
const HOLD_MS = 5_000;
const LOOK_AGAIN_MS = 50;
/** Held callbacks cost a query each; beyond this many they get a 409. */
const MOST_HELD = 500;

export interface CallbackService {
  /** Must be called first for every request. */
  readonly admit: CallbackLimit;
  /** Refuses an unknown, used or expired id. */
  requireKnown(callbackId: string): Promise<void>;
  /** Ends the task that waits for this callback, with the received JSON text as its result. */
  resolve(callbackId: string, body: string): Promise<Task>;
}

export function createCallbackService(deps: {
  readonly sql: Sql;
  readonly monotonicMs: () => number;
  readonly changes: Pick<TaskChanges, "ended">;
}): CallbackService {
  const { sql, monotonicMs } = deps;
  let held = 0;

  /** "active" while the task may still start to wait: its call is in flight. */
  async function tryResolve(hash: string, result: TaskResult): Promise<Task | "active"> {
    const key = await resolveCallback(sql, hash, result);
    if (key !== null) {
      deps.changes.ended(key, "completed", key.notify);
      const task = await findTask(sql, { teamId: key.teamId, environment: "live" }, key.id);
      if (task !== null) return task;
    }
    const status = await callbackStatus(sql, hash);
    if (status === null) throw new Problem("callback_unknown");
    // It may have started to wait between the two queries: then the next try finds it.
    if (status === "active" || status === "waiting" || status === "polling") return "active";
    throw new Problem("callback_not_awaited", { status });
  }

  async function hold(hash: string, result: TaskResult): Promise<Task> {
    const untilMs = monotonicMs() + HOLD_MS;
    held += 1;
    try {
      while (monotonicMs() < untilMs) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
        const task = await tryResolve(hash, result);
        if (task !== "active") return task;
      }
    } finally {
      held -= 1;
    }
    throw new Problem("callback_not_awaited", { status: "active" });
  }

  return {
    admit: createCallbackLimit(deps),
    async requireKnown(callbackId) {
      const status = isCallbackId(callbackId) ? await callbackStatus(sql, hashCallbackId(callbackId)) : null;
      if (status === null) throw new Problem("callback_unknown");
    },
    async resolve(callbackId, body) {
      if (!isCallbackId(callbackId)) throw new Problem("callback_unknown");
      const hash = hashCallbackId(callbackId);
      const result = toResult(body);
      const task = await tryResolve(hash, result);
      if (task !== "active") return task;
      if (held >= MOST_HELD) throw new Problem("callback_not_awaited", { status: "active" });
      return hold(hash, result);
    },
  };
}

/** Stored whole, unlike the answer to a call: the third party got a 200 for all of it. The body limit applies. */
function toResult(body: string): TaskResult {
  return { statusCode: 200, headers: {}, body, duration: 0 };
}
