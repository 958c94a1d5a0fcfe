import type { Limits } from "../domain/limits.ts";
import type { NewTask } from "../domain/task.ts";
import type { Database, Sql } from "../store/sql.ts";
import { holdLineForCallbacks } from "../store/tasks/ordered-lines.ts";
import { readReturnedMessages } from "../store/tasks/returned-messages.ts";
import { NO_WORKER } from "../store/tasks/tallies.ts";
import { type Accepted, insertTasks } from "../store/tasks/task-intake.ts";
import type { Returned } from "../store/tasks/task-returns.ts";
import type { HasRoom } from "./fit-result.ts";
import type { Log } from "./log.ts";
import { type MessageCalls, NO_MESSAGES, roomOf } from "./message-calls.ts";

/** Called after the commit. */
type Report = () => void;

/** Stores the callbacks of messages in the transaction that ends an attempt: neither is stored without the other. */
export interface Followers {
  store(within: Sql, tasks: readonly NewTask[]): Promise<Report>;
  /**
   * Gives tasks back, and creates the failure callbacks of messages that failed by that: no attempt ended them, so none
   * of their settlements did.
   */
  returning(work: (sql: Sql) => Promise<Returned[]>): Promise<Returned[]>;
}

export function createFollowers(deps: {
  readonly database: Database;
  readonly log: Log;
  readonly messages?: MessageCalls | undefined;
  readonly limitsOf: (teamId: number) => Limits;
  readonly hasRoom?: HasRoom | undefined;
  readonly onFollowed: (task: NewTask, accepted: Accepted) => void;
}): Followers {
  const { log, messages = NO_MESSAGES } = deps;

  async function store(within: Sql, tasks: readonly NewTask[]): Promise<Report> {
    if (tasks.length === 0) return () => {};
    const submissions = tasks.map((task) => ({ task, reservation: null }));
    const stored = await insertTasks(within, submissions, NO_WORKER);
    for (const [{ teamId, queueId }, ids] of linesOf(tasks, stored))
      await holdLineForCallbacks(within, { teamId, queueId }, ids);
    return () => {
      for (const [index, task] of tasks.entries()) {
        const accepted = stored[index] ?? null;
        if (accepted !== null) deps.onFollowed(task, accepted);
        else log.warn({ task: task.id, queue: task.queue }, "callback.not_stored");
      }
    };
  }

  return {
    store,
    async returning(work) {
      if (deps.messages === undefined) return work(deps.database);
      const { returned, report } = await deps.database.transaction(async (within) => {
        const given = await work(within);
        const failed = given.filter(
          ({ failure, hasFailureCallback }) => failure !== null && hasFailureCallback,
        );
        if (failed.length === 0) return { returned: given, report: null };
        const lost = await readReturnedMessages(within, failed);
        const tasks = lost.map((message) => messages.failureOf(message, roomOf(deps, message.teamId)));
        return { returned: given, report: await store(within, tasks) };
      });
      report?.();
      return returned;
    },
  };
}

/** The queues that callbacks may hold up, each with the ids of its callbacks. */
function linesOf(
  tasks: readonly NewTask[],
  stored: readonly (Accepted | null)[],
): [{ readonly teamId: number; readonly queueId: number }, string[]][] {
  const lines = new Map<number, [{ teamId: number; queueId: number }, string[]]>();
  for (const [index, { id, teamId, message }] of tasks.entries()) {
    const queueId = message?.lineOf;
    if (queueId === undefined || stored[index] == null) continue;
    const line = lines.get(queueId);
    if (line === undefined) lines.set(queueId, [{ teamId, queueId }, [id]]);
    else line[1].push(id);
  }
  return [...lines.values()];
}
