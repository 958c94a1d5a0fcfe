import type { Order } from "../domain/task-filter.ts";

/*
 * Tasks of one queue and state in the order of their ids, by the index that has them so. Asked for as one value, the state
 * says nothing of the order, and the key of the table has that of the ids as well: planned with statistics of a time at
 * which most tasks were in that state, a page walked along the key over every task that has left it. As a range, and as
 * part of the order, only the index of lists will do.
 */

/** For a condition on the task `t`, beside its team, queue and sandbox. */
export function inState(status: string): string {
  return `t.status >= ${status} and t.status <= ${status}`;
}

export function listOrder(order: Order): string {
  return `t.status ${order}, t.id ${order}`;
}
