import { type Static, Type } from "typebox";
import { CreatedDirectTask, DirectTaskAnswer, DirectTaskSummary } from "./direct-task-record.ts";
import { either, model, textOrNull } from "./field.ts";
import { CreatedTask, Task, TaskSummary } from "./task-record.ts";

/** What the routes of tasks answer: every task in the shape that it was created in. */

export const CreatedAnswer = either(CreatedTask, CreatedDirectTask, "The task as it was accepted.");

export const ReplayedAnswer = either(
  CreatedTask,
  CreatedDirectTask,
  "The task that an earlier request with the same idempotency key created, with `Idempotent-Replayed: true`.",
);

export const RecordAnswer = either(Task, DirectTaskAnswer, "The record of the task.");

export const TaskList = model("TaskList", "One page of tasks.", {
  tasks: Type.Array(either(TaskSummary, DirectTaskSummary), {
    description: "Newest first, each in the shape that it was created in.",
  }),
  pagination: Type.Object({
    total: Type.Integer({ description: "Tasks that match, on all pages." }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    hasMore: Type.Boolean(),
    nextCursor: textOrNull("`cursor` of the next page; null on the last."),
  }),
});
export type TaskList = Static<typeof TaskList>;
