import type { History, Seen } from "../history.ts";
import type { Limits, Wish } from "./wishes.ts";

/** A task as clients and targets know it. */
export interface OutsideTask {
  readonly id: string;
  readonly queue: string;
  readonly wish: Wish;
  /** When the first request for it was sent. */
  readonly sentAt: number;
  /** When a client was told that it is stored; infinity if none was. */
  readonly storedAt: number;
  /** As its record says; null if no answer had it. */
  readonly createdAt: number | null;
  readonly calls: readonly Seen[];
}

type Draft = { -readonly [Field in keyof OutsideTask]: OutsideTask[Field] } & { calls: Seen[] };

/** By the nonces of the creations: also those whose creation got no answer and that were called. */
export function tasksFromOutside({ answers, seen }: Pick<History, "answers" | "seen">): OutsideTask[] {
  const wished = new Map<string, Omit<Draft, "id" | "calls">>();
  const tasks = new Map<string, Draft>();
  const open = (id: string, nonce: string) => {
    const known = tasks.get(id);
    const wish = wished.get(nonce);
    if (known !== undefined || wish === undefined) return known;
    const task = { id, ...wish, calls: [] };
    tasks.set(id, task);
    return task;
  };
  const creations = answers.filter(({ action }) => action === "create");
  for (const { carried, wish, queue, at } of creations) {
    if (carried === null || wish === undefined || queue === null) continue;
    const sentAt = Math.min(at, wished.get(carried)?.sentAt ?? at);
    wished.set(carried, { queue, wish, sentAt, storedAt: Number.POSITIVE_INFINITY, createdAt: null });
  }
  for (const { carried, status, taskId, endedAt, createdAt } of creations) {
    if (carried === null || taskId === null || (status !== 201 && status !== 200)) continue;
    const task = open(taskId, carried);
    if (task === undefined) continue;
    task.storedAt = Math.min(task.storedAt, endedAt);
    task.createdAt = createdAt ?? task.createdAt;
  }
  for (const call of seen)
    if (call.kind === "call") open(call.taskId, call.nonces[0] ?? "")?.calls.push(call);
  for (const { calls } of tasks.values()) calls.sort((one, other) => one.begunAt - other.begunAt);
  return [...tasks.values()];
}

export function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | null,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

/** Of each queue the highest concurrency that was ever asked for, and the rest as it was created. */
export function limitsOf({ answers }: Pick<History, "answers">): Map<string, Limits> {
  const limits = new Map<string, Limits>();
  for (const { queue, limits: asked } of answers) {
    if (queue === null || asked === undefined) continue;
    const known = limits.get(queue);
    const concurrency = Math.max(asked.concurrency, known?.concurrency ?? 0);
    limits.set(queue, { ...(known ?? asked), concurrency });
  }
  return limits;
}
