import { type AnswerRoom, openAnswerRoom } from "../../domain/answer-room.ts";
import { Problem } from "../../domain/problem.ts";
import type { BatchedTask } from "../../domain/task.ts";
import type { BatchResult } from "../../service/tasks/task-batch.ts";
import { besideText, briefText, createdTaskText } from "./task-view.ts";

/*
 * The results of a batch. A thousand items may have long URLs, headers and bodies, their own or those of earlier tasks, and an
 * answer has 1 MiB. Each item has room for what its caller cannot know: its id, its callback, its refusal. What is left
 * goes to the items in their order: a new task is shown whole, else without its body, else briefly.
 */

/** What an item has in any case. */
export interface BatchFrame {
  readonly before: string;
  /** The shortest text of its task; empty for a refusal. */
  readonly brief: string;
  readonly after: string;
}

export function batchFrame(result: BatchResult, index: number): BatchFrame {
  if (result instanceof Problem) {
    const { message: error, code } = result;
    return { before: JSON.stringify({ index, error, code }), brief: "", after: "" };
  }
  const after = `${besideText(result)}${result.replayed ? ',"replayed":true' : ""}}`;
  return { before: `{"index":${index},"task":`, brief: briefText(result), after };
}

/** Writes one result after the other, in their order. */
export function createBatchWriter(
  frames: readonly BatchFrame[],
): (result: BatchResult, index: number) => string {
  const bytesOf = ({ before, brief, after }: BatchFrame) => Buffer.byteLength(before + brief + after) + 1;
  const room = openAnswerRoom(frames.reduce((sum, frame) => sum + bytesOf(frame), 0));
  return (result, index) => {
    const { before, brief, after } = frames[index] ?? batchFrame(result, index);
    return result instanceof Problem ? before : `${before}${taskText(result, brief, room)}${after}`;
  };
}

/** An earlier task is shown without its body, which the answer to its creation has had. */
function taskText(task: BatchedTask, brief: string, room: AnswerRoom): string {
  const { body, ...call } = { body: null, ...task.call };
  const isNew = !task.replayed && task.joined === null;
  if (isNew && (body?.length ?? 0) <= room.left) {
    const whole = createdTaskText(task);
    if (room.take(whole, brief)) return whole;
  }
  const bodiless = createdTaskText({ ...task, call });
  return room.take(bodiless, brief) ? bodiless : brief;
}
