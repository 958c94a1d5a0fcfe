import { listKey } from "../list-index.ts";

/*
 * The indexed columns of a task, which every statement that changes its status keeps in step: see `tasks` in
 * migrations/0001-tasks.ts. In production no constraint checks this; the test databases have one.
 */

/** For `update tasks t`: a new status of tasks that no worker holds afterwards. `runAt` is the new run_at, if any. */
export function stateColumns(status: string, runAt = "t.run_at"): string {
  const isKnown = /^'\w+'$/.test(status);
  const whileIn = (state: string, condition = "") =>
    isKnown
      ? status === `'${state}'`
        ? `case when not t.sandbox${condition} then ${runAt} end`
        : "null"
      : `case when ${status} = '${state}' and not t.sandbox${condition} then ${runAt} end`;
  return [
    `status = ${status}`,
    `due_at = ${whileIn("pending", " and t.flow is null")}`,
    `flow_due_at = ${whileIn("pending", " and t.flow is not null")}`,
    `poll_at = ${whileIn("polling")}`,
    `list_key = ${listKey(status, "t.sandbox")}`,
  ].join(",\n            ");
}

/** The CTE that records which tasks a worker claimed: `from` yields their team_id and id. */
export function holding(from: string, worker: string, condition = "true"): string {
  return `held as (
     insert into claim_batches (worker_id, team_id, task_ids)
     select ${worker}, team_id, array_agg(id) from ${from} where ${condition} group by team_id
   )`;
}
