import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { LIMITS, within } from "../../domain/limits.ts";
import type { Page } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import type { QueueSettings, QueueWithStats } from "../../domain/queue.ts";
import type { QueueService } from "../../service/tasks/queue-service.ts";
import { DEFAULT_RETRIES, DEFAULT_TIMEOUT_SECONDS, MESSAGE_QUEUE } from "./domain-request.ts";

export interface MessageQueueService {
  /** Creates it, or sets its parallelism and pause. */
  upsert(requester: Requester, name: string, parallelism: number, paused: boolean): Promise<void>;
  get(principal: Principal, name: string): Promise<QueueWithStats>;
  list(principal: Principal): Promise<Page<QueueWithStats>>;
  setPaused(requester: Requester, name: string, paused: boolean): Promise<unknown>;
  remove(requester: Requester, name: string): Promise<unknown>;
}

/** A queue with parallelism 1 is strictly ordered. The queue of messages without one never is: its messages are independent. */
export function orderOf(name: string, parallelism: number): Pick<QueueSettings, "ordered"> {
  return { ordered: parallelism === 1 && name !== MESSAGE_QUEUE };
}

export function createMessageQueueService({
  queues,
}: {
  readonly queues: QueueService;
}): MessageQueueService {
  async function change(
    requester: Requester,
    name: string,
    parallelism: number,
    paused: boolean,
  ): Promise<void> {
    const there = await queues.get(requester, name);
    const order = orderOf(name, parallelism);
    const isSet = there.concurrency === parallelism && there.ordered === order.ordered;
    if (isSet && there.paused === paused) return;
    // A test key may create a queue, which the team's other keys share, and not change it.
    if (requester.environment === "test") throw new Problem("test_key_refused");
    if (!isSet) await queues.update(requester, name, { concurrency: parallelism, ...order });
    if (there.paused !== paused) await queues.setPaused(requester, name, paused);
  }

  return {
    async upsert(requester, name, parallelism, paused) {
      const { plan, limits } = requester;
      const most = limits.callsInFlight;
      if (most !== null && parallelism > most) {
        const { unit } = LIMITS.callsInFlight;
        throw new Problem("limit_reached", { plan, most: String(most), unit, name: "callsInFlight" });
      }
      try {
        await queues.create(requester, name, {
          concurrency: parallelism,
          ...orderOf(name, parallelism),
          maxRetries: within(limits, "retries", DEFAULT_RETRIES),
          timeoutSeconds: within(limits, "timeoutSeconds", DEFAULT_TIMEOUT_SECONDS),
        });
        if (paused) await queues.setPaused(requester, name, true);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "queue_exists") throw error;
        await change(requester, name, parallelism, paused);
      }
    },
    get: (principal, name) => queues.get(principal, name),
    list: (principal) => queues.list(principal),
    setPaused: (requester, name, paused) => queues.setPaused(requester, name, paused),
    remove: (requester, name) => queues.remove(requester, name),
  };
}
