import { Problem } from "../../domain/problem.ts";
import type { Reach } from "../../domain/reach.ts";
import type { Sql } from "../../store/sql.ts";
import { findQueue } from "../../store/tasks/queues.ts";

interface Refused {
  readonly queue: string;
  readonly flow: { readonly key: string } | null;
}

/** Why the insert stored no task, where no other task has its idempotency key. */
export async function whyRefused(sql: Sql, reach: Reach, { queue: name, flow }: Refused): Promise<Problem> {
  const queue = flow === null ? null : await findQueue(sql, reach, name);
  if (flow === null || queue === null) return new Problem("queue_not_found", { name });
  return new Problem("flow_backlog_full", { key: flow.key });
}
