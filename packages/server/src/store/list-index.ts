import type { Order } from "../domain/task-filter.ts";

/*
 * Tasks of one queue and state in the order of their ids, by the index that has them so. Asked for as one value, the key
 * says nothing of the order, and the key of the table has that of the ids as well: planned with statistics of a time at
 * which most tasks had that key, a page walked along the primary key over every task that has left it. As a range, and as
 * part of the order, only the index of lists will do.
 *
 * Active and completed tasks share a key outside of the sandbox: a walk for completed tasks passes the few that are active.
 * Active ones are not found here: `activeTasks` in claim-batches.ts finds them by what the workers hold.
 */

/** The key under which a task of this status is listed. Both are SQL. */
export function listKey(status: string, sandbox: string): string {
  return `case when ${status} in ('active', 'completed') and not ${sandbox} then 'begun' else ${status} end`;
}

/**
 * For a condition on the task `t`, beside its team, queue and sandbox. Neither expression may mention `t`. True of no active
 * task outside of the sandbox.
 */
export function inState(status: string, sandbox: string): string {
  const key = `case when ${sandbox} or ${status} not in ('active', 'completed') then ${status}
                    when ${status} = 'completed' then 'begun' end`;
  return `t.list_key >= ${key} and t.list_key <= ${key} and t.status = ${status}`;
}

export function listOrder(order: Order): string {
  return `t.list_key ${order}, t.id ${order}`;
}
