import { TASK_STATUSES, type TaskStatus } from "../../domain/task.ts";

/** The kinds of statements that write tallies: each has rows of its own, so that none waits for another's commit. */
const WRITERS = { intake: 0, claim: 1, settle: 2, other: 3 } as const;

/**
 * The end of every statement that moves tasks: adds what moved to the writer's own row of each queue.
 * `from` names the CTE to count, with team_id and queue_id; `deltas` says what each of its rows adds to a state.
 */
export function tally(options: {
  readonly from: string;
  readonly node: string;
  readonly writer: keyof typeof WRITERS;
  readonly deltas: Partial<Record<TaskStatus, string>>;
}): string {
  const { from, node, writer, deltas } = options;
  const states = TASK_STATUSES.filter((state) => deltas[state] !== undefined);
  const sums = states.map((state) => `sum(${deltas[state]})`).join(", ");
  const adds = states.map((state) => `${state} = t.${state} + excluded.${state}`).join(", ");
  return `insert into queue_tallies as t (team_id, queue_id, worker_id, writer, ${states.join(", ")})
    select team_id, queue_id, ${node}, ${WRITERS[writer]}, ${sums} from ${from}
     group by team_id, queue_id order by team_id, queue_id
    on conflict (team_id, queue_id, worker_id, writer) do update set ${adds}`;
}

/** One where the row has this state, else nothing. */
export function one(condition: string): string {
  return `case when ${condition} then 1 else 0 end`;
}
