import type { History } from "../history.ts";
import type { Violation } from "../violation.ts";
import { checkBreakers } from "./breakers.ts";
import { checkDedupe } from "./dedupe.ts";
import { checkFates } from "./fates.ts";
import { checkLimits } from "./limits.ts";
import { tasksFromOutside } from "./tasks.ts";
import { checkTurns } from "./turns.ts";

/** What can be told by the answers of the API and the calls that targets saw alone, whatever the database says. */
export function checkOutside(history: History): Violation[] {
  const tasks = tasksFromOutside(history);
  return [
    ...checkLimits(history, tasks),
    ...checkTurns(history, tasks),
    ...checkDedupe(history, tasks),
    ...checkBreakers(history, tasks),
    ...checkFates(history, tasks),
  ];
}
