import { TASK_STATUSES, type TaskStatus } from "../../domain/task.ts";
import { statement } from "../sql.ts";

/** The kinds of statements that write tallies: each has its own rows, so that none waits for another's commit. */
const WRITERS = { intake: 0, claim: 1, settle: 2, other: 3 } as const;

/** For statements without a worker: those of services, and deletions. */
export const NO_WORKER = 0;

/**
 * The row of such a statement. Only the sum over a queue's rows matters, so any row will do as long as the count is in
 * the statement that moves the task. Each connection has its own rows: a node that is frozen in the middle of a
 * transaction would otherwise block all others. foldTallies merges them.
 */
const OWN_ROW = "-pg_backend_pid()";

/** The worker in a parameter, which may be absent. */
export function workerOrNone(parameter: string): string {
  return `case when ${parameter} = ${NO_WORKER} then ${OWN_ROW} else ${parameter} end`;
}

/**
 * The end of every statement that moves tasks: adds the changes to the writer's own row of each queue. `from` names the
 * CTE to count, with team_id, queue_id and sandbox (which has its own rows); `deltas` says what each of its rows adds
 * to a state.
 */
export function tally(options: {
  readonly from: string;
  /** True if it has one row per queue and environment already, so that no grouping is needed. */
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
  return `insert into queue_tallies as t (team_id, queue_id, worker_id, statement, sandbox, ${states.join(", ")})
    select team_id, queue_id, ${worker === NO_WORKER ? OWN_ROW : worker}, ${WRITERS[writer]}, sandbox, ${sums} from ${from} ${groups}
    on conflict (team_id, queue_id, worker_id, statement, sandbox) do update set ${adds}`;
}

/** Merges the counts of connections and of removed workers into one row per queue, to keep reads fast. */
export const FOLD_TALLIES = statement(
  "fold_tallies",
  `with folded as (
     delete from queue_tallies t using (
       select team_id, queue_id, worker_id, statement, sandbox from queue_tallies c
        where worker_id <> ${NO_WORKER} and not exists (select 1 from workers w where w.id = c.worker_id)
          for update skip locked) c
      where (t.team_id, t.queue_id, t.worker_id, t.statement, t.sandbox)
          = (c.team_id, c.queue_id, c.worker_id, c.statement, c.sandbox)
     returning t.*
   )
   ${tally({
     from: "folded",
     worker: `${NO_WORKER}`,
     writer: "intake",
     deltas: Object.fromEntries(TASK_STATUSES.map((status) => [status, status])),
   })}`,
  { patience: "chore" },
);

/** 1 if the row has this state, else 0. */
export function one(condition: string): string {
  return `case when ${condition} then 1 else 0 end`;
}
