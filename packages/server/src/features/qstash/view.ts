import type { Task } from "../../domain/task.ts";
import { headerLists } from "./domain-message-id.ts";
import { MESSAGE_QUEUE } from "./domain-request.ts";
import { dlqIdOf, type MessageTask } from "./service-messages.ts";

/** A message in QStash's words. Undefined members are left out. */
export function messageView(task: MessageTask): object {
  const { message, call, queue, tags } = task;
  const { callback, failureCallback, flow } = message;
  const createdAt = task.createdAt.getTime();
  return {
    messageId: task.id,
    url: call.url,
    method: call.method,
    header: headerLists(call.headers),
    ...bodyView(task),
    maxRetries: task.maxRetries,
    notBefore: message.notBeforeMs ?? createdAt,
    createdAt,
    retryDelayExpression: message.retryDelay,
    callback: callback?.url,
    failureCallback: failureCallback?.url,
    topicName: message.topic,
    endpointName: message.endpoint,
    queueName: queue === MESSAGE_QUEUE ? undefined : queue,
    scheduleId: message.schedule,
    label: tags?.[0],
    labels: tags ?? undefined,
    flowControlKey: flow?.key,
    parallelism: flow?.parallelism,
    rate: flow?.rate,
    period: flow?.periodSeconds,
  };
}

function bodyView({ message, call: { body } }: MessageTask): object {
  if (body === null) return {};
  const isShownAsBytes = message.base64 === true && message.redact?.body !== true;
  return isShownAsBytes ? { bodyBase64: body } : { body };
}

/** A message that has failed, with the last answer: status 0 is none. */
export function failedView(task: MessageTask): object {
  const { result, attempts, error } = task;
  return {
    ...messageView(task),
    dlqId: dlqIdOf(task),
    responseStatus: result?.statusCode ?? attempts.at(-1)?.responseCode ?? 0,
    responseHeader: result === null ? {} : headerLists(result.headers),
    responseBody: result?.body ?? error ?? "",
  };
}

export type LogState =
  | "CREATED"
  | "ACTIVE"
  | "ERROR"
  | "RETRY"
  | "DELIVERED"
  | "FAILED"
  | "CANCEL_REQUESTED"
  | "CANCELED";

export interface LogEntry {
  readonly time: number;
  readonly state: LogState;
  readonly messageId: string;
}

/**
 * What happened to a message, oldest first, in these states or in any. Made from the task and its attempts: nothing more is
 * stored. The header and the body, which may be large, stand in the first entry alone.
 */
export function logEntries(task: MessageTask, states?: readonly LogState[]): LogEntry[] {
  const entries = allEntries(task).filter(({ state }) => states === undefined || states.includes(state));
  if (entries[0] !== undefined)
    Object.assign(entries[0], { header: headerLists(task.call.headers), ...bodyView(task) });
  return entries;
}

function allEntries(task: MessageTask): LogEntry[] {
  const { message, call, tags, queue } = task;
  const shared = {
    messageId: task.id,
    url: call.url,
    topicName: message.topic,
    endpointName: message.endpoint,
    scheduleId: message.schedule,
    queueName: queue === MESSAGE_QUEUE ? undefined : queue,
    flowControlKey: message.flow?.key,
    label: tags?.[0],
    labels: tags ?? undefined,
  };
  const entries: LogEntry[] = [
    {
      ...shared,
      time: task.createdAt.getTime(),
      state: "CREATED",
      ...untilOf(task, task.attempts.length === 0),
    },
  ];
  for (const [index, attempt] of task.attempts.entries()) {
    const began = attempt.executedAt.getTime();
    entries.push({ ...shared, time: began, state: "ACTIVE" });
    if (attempt.status === "active") continue;
    const ended = began + (attempt.durationMs ?? 0);
    const answered = { responseStatus: attempt.responseCode ?? 0 };
    if (attempt.status === "success") {
      entries.push({ ...shared, time: ended, state: "DELIVERED", ...answered });
      continue;
    }
    const error = attempt.error ?? "";
    const isLast = index === task.attempts.length - 1;
    entries.push({ ...shared, time: ended, state: "ERROR", ...answered, error } as LogEntry);
    if (!isLast || task.status === "pending")
      entries.push({ ...shared, time: ended, state: "RETRY", ...untilOf(task, isLast) });
  }
  const endedAt = task.completedAt?.getTime() ?? 0;
  if (task.status === "failed")
    entries.push({ ...shared, time: endedAt, state: "FAILED", error: task.error ?? "" } as LogEntry);
  if (task.status === "cancelled")
    for (const state of ["CANCEL_REQUESTED", "CANCELED"] as const)
      entries.push({ ...shared, time: endedAt, state });
  return entries;
}

function untilOf({ runAt }: Task, isNext: boolean): object {
  return isNext ? { nextDeliveryTime: runAt.getTime() } : {};
}
