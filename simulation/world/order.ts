import type { Random } from "../../chaos/rig/random.ts";
import { QUEUES, type QueueName } from "./new-tasks.ts";

/** A queue whose tasks start in strict order, in some runs. */
export interface Orderly {
  readonly queue: QueueName;
  /** From the beginning; otherwise a client switches it on while tasks are under way. */
  readonly isFirst: boolean;
  readonly random: Random;
}

export function drawOrder(random: Random): Orderly | null {
  if (!random.chance(0.3)) return null;
  return { queue: random.pick(QUEUES), isFirst: random.chance(0.5), random };
}
