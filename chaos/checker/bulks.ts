import type { History } from "./history.ts";
import type { BulkChange } from "./rows.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/**
 * Every task of a bulk action has one turn: each commit that counts a number as retried has restarted as many, nothing else
 * has, and in the end all have had theirs.
 */
export function checkBulks(history: History, stories: Stories): Violation[] {
  const bulks = new Map<string, BulkChange[]>();
  for (const change of history.changes)
    if (change.relation === "bulks") bulks.set(change.row.id, [...(bulks.get(change.row.id) ?? []), change]);
  const counted = new Map<number, number>();
  for (const changes of bulks.values()) {
    for (const [index, { committedAt, row }] of changes.entries()) {
      const done = row.done - (changes[index - 1]?.row.done ?? 0);
      if (done !== 0 && row.action === "retry")
        counted.set(committedAt, (counted.get(committedAt) ?? 0) + done);
    }
  }
  const retried = countRetries(stories);
  const unlike = [...new Set([...counted.keys(), ...retried.keys()])].flatMap((at): Violation[] => {
    const [said, were] = [counted.get(at) ?? 0, retried.get(at)?.length ?? 0];
    if (said === were) return [];
    const text = `${said} tasks were counted as retried in a commit that retried ${were}`;
    return [{ promise: "bulks", text, taskId: retried.get(at)?.[0] ?? null, at }];
  });
  const unfinished = [...bulks.values()].flatMap((changes): Violation[] => {
    const { row, committedAt } = changes.at(-1) ?? {};
    if (row === undefined || committedAt === undefined) return [];
    const turns = row.done + row.skipped;
    if (row.status === "completed" && turns === row.matched) return [];
    const text = `bulk action ${row.id} is ${row.status} after ${turns} turns of ${row.matched}`;
    return [{ promise: "bulks", text, taskId: null, at: committedAt }];
  });
  return [...unlike, ...unfinished];
}

/** The restarted tasks, by the commit that did it. What clients retry one by one no bulk action asks for. */
function countRetries(stories: Stories): Map<number, string[]> {
  const retried = new Map<number, string[]>();
  for (const { id, changes, answers } of stories.all) {
    if (answers.some(({ action }) => action === "retry")) continue;
    for (const [index, { committedAt, op, row }] of changes.entries()) {
      const before = changes[index - 1];
      if (op !== "update" || before === undefined || row.retries === before.row.retries) continue;
      retried.set(committedAt, [...(retried.get(committedAt) ?? []), id]);
    }
  }
  return retried;
}
