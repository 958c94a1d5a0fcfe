import { FAILURE_REASONS } from "../domain/task.ts";
import type { Ending, TaskListener } from "../domain/task-changes.ts";
import type { Series } from "./series.ts";

/** The counters of created and ended tasks. Every label value starts at 0: otherwise the first would not show as an increase. */
export function createTaskMetrics({
  counter,
}: Pick<Series, "counter">): Required<Pick<TaskListener, "created" | "ended">> {
  const created = counter(
    "bellhop_tasks_created_total",
    "Tasks stored, by kind; those of the sandbox are never called.",
    ["kind"],
  );
  for (const kind of ["queue", "direct", "sandbox"]) created(kind);

  const ended = counter(
    "bellhop_tasks_ended_total",
    "Tasks that ended, by outcome and, of the failed ones, by failure_reason; those of the sandbox are left out.",
    ["outcome", "failure_reason"],
  );
  const endings = new Map<Ending, { value: number }>([
    ["completed", ended("completed", "")],
    ["cancelled", ended("cancelled", "")],
  ]);
  for (const reason of FAILURE_REASONS) endings.set(reason, ended("failed", reason));

  return {
    created({ shape, sandbox }) {
      created(sandbox ? "sandbox" : shape).value += 1;
    },
    ended({ sandbox }, ending) {
      // A simulated failure must not set off an alarm on failures.
      if (sandbox) return;
      const cell = endings.get(ending);
      if (cell !== undefined) cell.value += 1;
    },
  };
}
