import { FLEETING } from "../checker/retention.ts";
import type { Plant } from "./plants.ts";

/**
 * The tasks of one queue are kept for seconds, and removed within one of their end: the setting is in days, and those of all other
 * queues are what a run is judged by.
 */
export const SHORT_LIVES: Plant["edits"] = [
  {
    file: "engine/janitor.js",
    find: "const ROUND_MS = 60_000;",
    replace: "const ROUND_MS = 1_000;",
  },
  {
    file: "engine/janitor.js",
    find: "await removeExpiredTasks(sql, deps.retentionDays, BATCH)",
    replace: `await removeExpiredTasks(sql, ${FLEETING.lifeMs / 86_400_000}, BATCH)`,
  },
  {
    file: "store/tasks/task-removals.js",
    find: "from queues q\n    cross join (values ('completed'), ('failed'), ('cancelled')) as s(status)",
    replace: `from (select * from queues where name = '${FLEETING.queue}') q
    cross join (values ('completed'), ('failed'), ('cancelled')) as s(status)`,
  },
];
