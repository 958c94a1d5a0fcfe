import { Type } from "typebox";
import { instant, model, oneOf } from "./field.ts";

export const TaskNotification = model("TaskNotification", "Told once when a task has ended.", {
  type: oneOf(["task.completed", "task.failed", "task.cancelled"], { description: "How it ended." }),
  timestamp: instant("When it ended."),
  data: Type.Object({
    task: Type.Unsafe<object>({
      anyOf: [{ $ref: "Task#" }, { $ref: "DirectTask#" }],
      description: "The whole record, as the API shows it.",
    }),
  }),
});
