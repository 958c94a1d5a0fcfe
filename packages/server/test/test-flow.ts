import type { TaskFlow } from "../src/domain/flow.ts";

/** The field `flow` of a task. Without limits, the task carries only the key. */
export function flowOf(key: string, limits: Partial<TaskFlow> = {}): { readonly flow: TaskFlow } {
  return { flow: { key, concurrency: null, rate: null, period: null, ordered: null, ...limits } };
}
