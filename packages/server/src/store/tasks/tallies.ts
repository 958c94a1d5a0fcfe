import { TASK_STATUSES, type TaskStatus } from "../../domain/task.ts";

/** The kinds of statements that write tallies: each has rows of its own, so that none waits for another's commit. */
const WRITERS = { intake: 0, claim: 1, settle: 2, other: 3 } as const;

/**
 * Under whom a statement counts that needs no worker: what services do, and what is removed. What counts is the sum over
 * a queue's rows, so any row is as good as another as long as the count is in the statement that moves the task. A node
 * that only serves the API has no lease and no row of its own; this one belongs to no process and outlives them all,
 * which is also why foldTallies adds to it what dead workers had counted.
 */
export const NO_WORKER = 0;

/**
 * The end of every statement that moves tasks: adds what moved to the writer's own row of each queue.
 * `from` names the CTE to count, with team_id, queue_id and sandbox, which has rows of its own; `deltas` says what each of its rows adds to a state.
 */
export function tally(options: {
  readonly from: string;
  /** It has one row for each queue and environment already: nothing is to be grouped. */
  readonly isSummed?: boolean;
  /** The id of the worker that counts, as SQL. */
  readonly worker: string | typeof NO_WORKER;
  readonly writer: keyof typeof WRITERS;
  readonly deltas: Partial<Record<TaskStatus, string>>;
}): string {
  const { from, isSummed = false, worker, writer, deltas } = options;
  const states = TASK_STATUSES.filter((state) => deltas[state] !== undefined);
  const sums = states.map((state) => (isSummed ? deltas[state] : `sum(${deltas[state]})`)).join(", ");
  const groups = isSummed ? "" : "group by team_id, queue_id, sandbox order by team_id, queue_id, sandbox";
  const adds = states.map((state) => `${state} = t.${state} + excluded.${state}`).join(", ");
  return `insert into queue_tallies as t (team_id, queue_id, worker_id, writer, sandbox, ${states.join(", ")})
    select team_id, queue_id, ${worker}, ${WRITERS[writer]}, sandbox, ${sums} from ${from} ${groups}
    on conflict (team_id, queue_id, worker_id, writer, sandbox) do update set ${adds}`;
}

/** One where the row has this state, else nothing. */
export function one(condition: string): string {
  return `case when ${condition} then 1 else 0 end`;
}
