/** A mutant that nobody can tell from the original, judged by hand. */
export interface Equivalent {
  /** Of the mutant. */
  readonly name: string;
  /** A part of the line where the change is: where it is not, the code has changed, and so may have the judgement. */
  readonly line: string;
  readonly reason: string;
}

export const EQUIVALENT: readonly Equivalent[] = [
  {
    name: "store/tasks/task-returns.ts returning drop-condition 7",
    line: "and q.team_id = t.team_id and q.id = t.queue_id",
    reason: "An identity column numbers the queues of all teams: no two have the same id.",
  },
];
