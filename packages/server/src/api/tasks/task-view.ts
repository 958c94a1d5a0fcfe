import type { ToldTask } from "../../domain/event.ts";
import type {
  BatchedTask,
  CreatedTask,
  Creation,
  Shape,
  Task,
  TaskMoment,
  TaskSummary,
  ToldSummary,
} from "../../domain/task.ts";
import { publicTaskId } from "../../domain/task-id.ts";
import { type Field, nameIn, type Place, type ViewedTask } from "./field-row.ts";
import { jsonWriter, type MovingMember, momentWriter } from "./json-text.ts";
import { TASK_FIELDS } from "./task-fields.ts";
import type { ResolvedTask } from "./task-models.ts";

/** Tasks as JSON text, each as the kind that it was created as. */

function membersOf(kind: Shape, place: Place): MovingMember<ViewedTask, TaskMoment>[] {
  const fields: Field[] = Object.values(TASK_FIELDS);
  return fields.flatMap((field) => {
    const name = nameIn(field, kind);
    if (name === null || !field.show?.in.includes(place)) return [];
    return [{ name, of: field.show.of, ofMoment: field.show.ofMoment }];
  });
}

function writer(kind: Shape, place: Place): (task: ViewedTask) => string {
  return jsonWriter(membersOf(kind, place));
}

/** The task is asked for what stays, and the moment for the rest. */
function toldWriter(kind: Shape): (task: ToldSummary, was: TaskMoment) => string {
  const members: readonly MovingMember<ViewedTask & ToldSummary, TaskMoment>[] = membersOf(kind, "list");
  return momentWriter(members) as (task: ToldSummary, was: TaskMoment) => string;
}

const writeQueueAnswer = writer("queue", "queue answer");
const writeDirectAnswer = writer("direct", "direct answer");
const writeBeside = { queue: writer("queue", "beside"), direct: writer("direct", "beside") };
const writeBrief = { queue: writer("queue", "brief"), direct: writer("direct", "brief") };
const writeSummary = { queue: writer("queue", "list"), direct: writer("direct", "list") };
const writeTold = { queue: toldWriter("queue"), direct: toldWriter("direct") };
const writeRecord = { queue: writer("queue", "record"), direct: writer("direct", "record") };

/** What the creation is answered with. */
export function createdText(task: CreatedTask): string {
  if (task.shape === "queue") return createdTaskText(task);
  const answer = `{"task":${createdTaskText(task)}`;
  return hasNothingBeside(task) ? `${answer}}` : `${answer},${writeBeside.direct(task).slice(1)}`;
}

/** The task alone, as the creation is answered. */
export function createdTaskText(task: ViewedTask): string {
  return task.shape === "queue" ? writeQueueAnswer(task) : writeDirectAnswer(task);
}

/** The same of a task that the answer has no room for: what its caller cannot know. */
export function briefText(task: BatchedTask): string {
  const text = writeBrief[task.shape](task);
  if (task.shape === "direct" || hasNothingBeside(task)) return text;
  return `${text.slice(0, -1)},${writeBeside.queue(task).slice(1)}`;
}

/** What stands beside the task in the answer to a batch, as further members. */
export function besideText(task: BatchedTask): string {
  if (task.shape === "queue") return task.joined === null ? "" : `,"${task.joined}":true`;
  return hasNothingBeside(task) ? "" : `,${writeBeside.direct(task).slice(1, -1)}`;
}

function hasNothingBeside({ callback, joined }: Pick<Creation, "callback" | "joined">): boolean {
  return callback === null && joined === null;
}

/** The answer to a creation that was waited for: the whole record, and the callback as a creation shows it. */
export function waitedText(task: Task, created: CreatedTask): string {
  const answer = answerText(task);
  if (hasNothingBeside(created)) return answer;
  const { callback, joined } = created;
  return `${answer.slice(0, -1)},${writeBeside[task.shape]({ ...task, callback, joined }).slice(1)}`;
}

/** A task as it stands in a list. */
export function summaryText(task: TaskSummary): string {
  return writeSummary[task.shape](task);
}

/** The same, as it was when something happened to it. */
export function toldText({ task, was }: ToldTask): string {
  return writeTold[task.shape](task, was);
}

/** The whole record, not wrapped. */
export function recordText(task: Task): string {
  return writeRecord[task.shape](task);
}

/** The whole record as it is answered: a direct task stands inside `task`. */
export function answerText(task: Task): string {
  return task.shape === "queue" ? recordText(task) : `{"task":${recordText(task)}}`;
}

/** What a third party learns of the task that it has ended; in the words of a direct task, whichever kind it is. */
export function resolvedView(task: Task): ResolvedTask {
  return {
    task: {
      id: publicTaskId(task),
      status: task.status,
      ...(task.result && { result: { ...task.result, headers: { ...task.result.headers } } }),
      createdAt: task.createdAt.toISOString(),
      ...(task.completedAt && { completedAt: task.completedAt.toISOString() }),
    },
  };
}
