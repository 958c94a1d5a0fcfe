import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, RECORD, SMALL } from "../../api/http/cost.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { sendText } from "../../api/tasks/task-answer.ts";
import { openAnswerRoom } from "../../domain/answer-room.ts";
import type { TaskStatus } from "../../domain/task.ts";
import { headerLists } from "./domain-message-id.ts";
import { readOptions } from "./domain-options.ts";
import { DEFAULT_RETRIES, MESSAGE_QUEUE } from "./domain-request.ts";
import { bytesIn, destinationIn, HIDDEN, headersIn, parameterIn } from "./routes-http.ts";
import {
  cronOf,
  listTooLarge,
  type MessageSchedule,
  type MessageScheduleService,
} from "./service-schedules.ts";

export function registerScheduleRoutes(
  app: Api,
  { messageSchedules, now }: { readonly messageSchedules: MessageScheduleService; readonly now: () => Date },
): void {
  const read = {
    ...HIDDEN,
    config: { ...access("schedules:read"), ...costs("point", { rows: 100, bytes: RECORD }) },
  };
  const write = {
    ...HIDDEN,
    config: { ...access("schedules:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
  };

  app.post("/schedules/*", write, async (request) => {
    const destination = destinationIn(request, 2);
    const options = readOptions(headersIn(request), "schedule", now());
    return {
      scheduleId: await messageSchedules.put(requesterOf(request), destination, options, bytesIn(request)),
    };
  });
  app.get(
    "/schedules",
    {
      ...HIDDEN,
      config: { ...read.config, ...costs("scan", { rows: 1_001, bytes: RECORD }), isPatient: true },
    },
    async (request, reply) => {
      const room = openAnswerRoom();
      const texts: string[] = [];
      for await (const schedule of messageSchedules.each(callerOf(request))) {
        const text = JSON.stringify(scheduleView(schedule));
        if (!room.take(text)) throw listTooLarge();
        texts.push(text);
      }
      return sendText(reply, `[${texts.join()}]`);
    },
  );
  app.get("/schedules/:scheduleId", read, async (request) =>
    scheduleView(await messageSchedules.get(callerOf(request), parameterIn(request, "scheduleId"))),
  );
  app.delete("/schedules/:scheduleId", write, async (request) => {
    await messageSchedules.remove(requesterOf(request), parameterIn(request, "scheduleId"));
    return {};
  });
  // Clients use PATCH, the documentation POST.
  for (const method of ["PATCH", "POST"] as const)
    for (const action of ["pause", "resume"] as const)
      app.route({
        method,
        url: `/schedules/:scheduleId/${action}`,
        ...write,
        handler: async (request) => {
          const id = parameterIn(request, "scheduleId");
          await messageSchedules.setPaused(requesterOf(request), id, action === "pause");
          return {};
        },
      });
}

const STATES: Readonly<Record<TaskStatus, string>> = {
  pending: "IN_PROGRESS",
  active: "IN_PROGRESS",
  waiting: "IN_PROGRESS",
  polling: "IN_PROGRESS",
  completed: "SUCCESS",
  failed: "FAIL",
  cancelled: "FAIL",
};

function scheduleView(schedule: MessageSchedule): object {
  const { name, message, lastTask, nextRunAt, paused, createdAt } = schedule;
  const { call, queue, delaySeconds, maxRetries, tags } = schedule.task.request;
  const isHidden = message.redact?.body === true;
  return {
    scheduleId: name,
    cron: cronOf(schedule),
    createdAt: createdAt.getTime(),
    destination: message.scheduled?.destination ?? call.url,
    method: call.method,
    header: message.redact?.headers === undefined ? headerLists(call.headers) : {},
    ...(call.body !== null && !isHidden && { [message.base64 === true ? "bodyBase64" : "body"]: call.body }),
    retries: maxRetries ?? DEFAULT_RETRIES,
    delay: delaySeconds > 0 ? delaySeconds : undefined,
    callback: message.callback?.url,
    failureCallback: message.failureCallback?.url,
    isPaused: paused,
    queueName: queue === MESSAGE_QUEUE ? undefined : queue,
    retryDelayExpression: message.retryDelay,
    label: tags?.[0],
    labels: tags ?? undefined,
    flowControlKey: message.flow?.key,
    parallelism: message.flow?.parallelism,
    rate: message.flow?.rate,
    period: message.flow?.periodSeconds,
    lastScheduleTime: lastTask?.createdAt.getTime(),
    nextScheduleTime: nextRunAt?.getTime(),
    lastScheduleStates: lastTask === null ? undefined : { [lastTask.id]: STATES[lastTask.status] },
  };
}
