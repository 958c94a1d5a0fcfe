/**
 * The end of every statement that moves tasks: adds what moved to this writer's own row of the tallies.
 * `moved` is the CTE to count, with team_id, queue_id and one signed column per state named here.
 */
export const LANES = { intake: 0, claim: 1, settle: 2, other: 3 } as const;

type State = "pending" | "active" | "waiting" | "polling" | "completed" | "failed";

export function tally(options: {
  readonly from: string;
  readonly node: string;
  readonly lane: number;
  readonly deltas: Partial<Record<State, string>>;
}): string {
  const states = Object.keys(options.deltas) as State[];
  const sums = states.map((state) => `sum(${options.deltas[state]})`).join(", ");
  const adds = states.map((state) => `${state} = t.${state} + excluded.${state}`).join(", ");
  return `insert into queue_tallies as t (team_id, queue_id, node_id, lane, ${states.join(", ")})
    select team_id, queue_id, ${options.node}, ${options.lane}, ${sums} from ${options.from}
     group by team_id, queue_id order by team_id, queue_id
    on conflict (team_id, queue_id, node_id, lane) do update set ${adds}`;
}

/** One where the row has this state, else nothing. */
export function one(condition: string): string {
  return `case when ${condition} then 1 else 0 end`;
}
