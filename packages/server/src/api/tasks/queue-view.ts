import { readBreaker } from "../../domain/breaker.ts";
import type { Queue, QueueSettings, QueueWithStats } from "../../domain/queue.ts";
import type * as record from "../schemas/queue.ts";

/** Only what was sent: a setting left out keeps its value, or takes the default of a new queue. */
export function readSettings(body: record.UpdateQueue): Partial<QueueSettings> {
  return {
    ...(body.concurrency !== undefined && { concurrency: body.concurrency }),
    ...(body.max_retries !== undefined && { maxRetries: body.max_retries }),
    ...(body.retry_backoff !== undefined && { backoff: body.retry_backoff }),
    ...(body.retry_delay !== undefined && { retryDelaySeconds: body.retry_delay }),
    ...(body.retry_max_delay !== undefined && { retryMaxDelaySeconds: body.retry_max_delay }),
    ...(body.no_retry_statuses !== undefined && { noRetryStatuses: body.no_retry_statuses }),
    ...(body.timeout !== undefined && { timeoutSeconds: body.timeout }),
    ...(body.ordered !== undefined && { ordered: body.ordered }),
    ...(body.on_failure !== undefined && { onFailure: body.on_failure }),
    ...(body.rate !== undefined && { rate: body.rate || null }),
    ...(body.rate_period !== undefined && { ratePeriod: body.rate_period }),
    ...(body.breaker !== undefined && { breaker: readBreaker(body.breaker) }),
  };
}

export function queueView(queue: Queue): record.Queue {
  return {
    name: queue.name,
    concurrency: queue.concurrency,
    max_retries: queue.maxRetries,
    retry_backoff: queue.backoff,
    retry_delay: queue.retryDelaySeconds,
    retry_max_delay: queue.retryMaxDelaySeconds,
    no_retry_statuses: [...queue.noRetryStatuses],
    timeout: queue.timeoutSeconds,
    ordered: queue.ordered,
    on_failure: queue.onFailure,
    rate: queue.rate ?? false,
    rate_period: queue.ratePeriod,
    breaker: queue.breaker ?? false,
    paused: queue.paused,
    created_at: queue.createdAt.toISOString(),
    updated_at: queue.updatedAt.toISOString(),
  };
}

export function queueWithStatsView(queue: QueueWithStats): record.QueueWithStats {
  return { ...queueView(queue), stats: queue.stats };
}
