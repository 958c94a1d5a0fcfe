import { setTimeout as sleep } from "node:timers/promises";
import { FLEETING } from "../checker/retention.ts";
import type { Api } from "./api.ts";
import type { Asking } from "./asking.ts";
import type { GuardedTasks } from "./guarded-tasks.ts";
import type { Random } from "./random.ts";
import { readTaskId } from "./task-requests.ts";

/** Creates tasks of the queue whose tasks do not live long, and retries some of them when they may just have been removed. */
export function createFleetingTasks(deps: {
  readonly api: Api;
  readonly asking: Asking;
  readonly random: Random;
  readonly tasks: GuardedTasks;
  /** Bulk actions retry what has it. */
  readonly bulkTag: string;
}): () => Promise<void> {
  const { api, asking, random, tasks, bulkTag } = deps;

  async function retry(taskId: string): Promise<void> {
    await sleep(FLEETING.lifeMs + random.between(-1_500, 2_500));
    const path = `/v1/tasks/${taskId}/retry`;
    await api.ask({ action: "retry", node: asking.anyNode(), method: "POST", path, taskId });
  }

  return async () => {
    const isForBulks = random.chance(0.5);
    const fails = { max_retries: 0, ...(isForBulks && { tags: [bulkTag] }) };
    const call = random.chance(0.3) ? "ok?ms=20" : `error?until=${random.between(1, 3)}`;
    const told = await tasks.create(FLEETING.queue, call, {}, fails);
    const taskId = readTaskId(told.body);
    if (told.status === 201 && taskId !== null && !isForBulks) await retry(taskId);
  };
}
