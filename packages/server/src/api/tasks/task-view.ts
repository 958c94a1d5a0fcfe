import type { Task, TaskSummary } from "../../domain/task.ts";
import { formatTaskId } from "../../domain/task-id.ts";
import type * as direct from "../schemas/direct-task-record.ts";
import type * as record from "../schemas/task-record.ts";
import { recordText, summaryView } from "./shape-a.ts";
import { directRecordView, directSummaryView } from "./shape-b.ts";
import { resultView } from "./shared-view.ts";

/** A task in the shape that it was created in, as it stands in a list. */
export function summaryOf(task: TaskSummary): record.TaskSummary | direct.DirectTaskSummary {
  return task.shape === "queue" ? summaryView(task) : directSummaryView(task);
}

/** The whole record as JSON text, not wrapped. */
export function recordOf(task: Task): string {
  return task.shape === "queue" ? recordText(task) : JSON.stringify(directRecordView(task));
}

/** The whole record as it is answered: Shape B stands inside `task`. */
export function answerOf(task: Task): string {
  return task.shape === "queue" ? recordOf(task) : `{"task":${recordOf(task)}}`;
}

/** What a third party learns of the task that it has ended; in Shape B's words, whoever created it. */
export function resolvedView(task: Task): direct.ResolvedTask {
  return {
    task: {
      id: task.shape === "queue" ? formatTaskId(task.id) : task.id,
      status: task.status,
      ...(task.result && { result: resultView(task.result) }),
      createdAt: task.createdAt.toISOString(),
      ...(task.completedAt && { completedAt: task.completedAt.toISOString() }),
    },
  };
}
