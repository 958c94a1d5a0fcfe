/*
 * The turn of a task among those of its queue that may start: the lower the number, the earlier it starts. The priority decides, then
 * the due time, to the millisecond. The creation decides between equal turns, where a claim sees both tasks.
 */

/** More milliseconds than any due time has. */
const PRIORITY_STEP = 2 ** 42;

/** Not later than the turn of any task: nothing is known of the task. */
export const FIRST = 0;
/** Later than the turn of any task: there is no task. */
export const NEVER = Number.POSITIVE_INFINITY;

export function turnOf({ priority, runAt }: { readonly priority: number; readonly runAt: Date }): number {
  return (10 - priority) * PRIORITY_STEP + runAt.getTime();
}

/** The same in SQL. Whole microseconds, and nothing between them, are exact as float8. */
export const turnSql = (priority: string, dueAt: string) =>
  `(10 - ${priority}) * ${PRIORITY_STEP}::float8 + floor(round(date_part('epoch', ${dueAt}) * 1000000) / 1000)`;
