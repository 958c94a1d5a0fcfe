import { randomBytes } from "node:crypto";
import type { RefuseUrl } from "../../domain/call.ts";
import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import type { Message } from "../../domain/message.ts";
import { WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import type { Sql } from "../../store/sql.ts";
import { shownCall } from "../../store/tasks/message-redaction.ts";
import { type FanOut, SCHEDULE_DEFAULTS, type Schedule, type ScheduleService } from "../schedules/index.ts";
import type { Destination } from "./domain-destination.ts";
import type { MessageOptions } from "./domain-options.ts";
import { MESSAGE_QUEUE, messageRequest } from "./domain-request.ts";
import { bodyOf, type PublishService } from "./service-publish.ts";
import { findUrlGroup } from "./store.ts";

export interface MessageSchedule extends Schedule {
  readonly message: Message;
}

export interface MessageScheduleService {
  /** Creates it, or replaces everything but its pause. Resolves with its id. */
  put(
    requester: Requester,
    destination: Destination,
    options: MessageOptions,
    body: Buffer | null,
  ): Promise<string>;
  get(principal: Principal, id: string): Promise<MessageSchedule>;
  /** By name. Each is read when it is asked for: its body may have a megabyte. */
  each(principal: Principal): AsyncIterable<MessageSchedule>;
  setPaused(requester: Requester, id: string, paused: boolean): Promise<void>;
  remove(requester: Requester, id: string): Promise<void>;
}

const TIME_ZONE = /^CRON_TZ=(\S+)\s+/;

/** As it was written, unless it was changed under /v1 since. */
export function cronOf({ cron, timezone, message }: MessageSchedule): string {
  const written = message.scheduled?.cron;
  if (written !== undefined && written.replace(TIME_ZONE, "") === cron && zoneIn(written) === timezone)
    return written;
  return timezone === SCHEDULE_DEFAULTS.timezone ? cron : `CRON_TZ=${timezone} ${cron}`;
}

function zoneIn(cron: string): string {
  return TIME_ZONE.exec(cron)?.[1] ?? SCHEDULE_DEFAULTS.timezone;
}

export function createMessageScheduleService(deps: {
  readonly schedules: ScheduleService;
  readonly publish: PublishService;
  readonly refuseUrl: RefuseUrl;
  readonly now: () => Date;
}): MessageScheduleService {
  const { schedules, publish } = deps;

  /** Those of /v1 do not exist for /v2. */
  async function get(principal: Principal, id: string): Promise<MessageSchedule> {
    const schedule = await schedules.get(principal, id);
    const { message } = schedule.task.request;
    if (message == null || schedule.name !== id) throw new Problem("schedule_not_found", { name: echo(id) });
    return { ...schedule, message };
  }

  async function pausedAs(requester: Requester, id: string): Promise<boolean> {
    const found = await schedules.get(requester, id).catch(nullIfUnknown);
    if (found === null) return false;
    // The name is that of a schedule of /v1.
    if (found.task.request.message == null) throw new Problem("schedule_exists", { name: echo(id) });
    return found.paused;
  }

  return {
    async put(requester, destination, options, bytes) {
      if (options.cron === null) throw invalid([mustBe("Upstash-Cron", "given")]);
      const id = options.scheduleId ?? `scd_${randomBytes(18).toString("base64url").replaceAll("-", "_")}`;
      const cron = options.cron.trim();
      const timezone = zoneIn(cron);
      const [recipient] = await publish.recipientsOf(requester, destination);
      if (recipient === undefined) throw invalid([mustBe("destination", "a URL group with endpoints")]);
      const queue = options.queue ?? MESSAGE_QUEUE;
      const context = {
        queue,
        now: deps.now(),
        limits: requester.limits,
        refuseUrl: deps.refuseUrl,
        scheduleId: id,
      };
      const request = messageRequest(options, recipient, bodyOf(bytes), context);
      const template = withoutTime(request, {
        cron,
        destination: destination.kind === "url" ? destination.url : destination.name,
      });
      await publish.check(requester, request);
      await publish.ensureQueue(requester, queue);
      const terms = {
        ...SCHEDULE_DEFAULTS,
        cron: cron.replace(TIME_ZONE, ""),
        timezone,
        paused: await pausedAs(requester, id),
        task: { text: shownText(template), request: template },
      };
      await schedules.put(requester, id, terms);
      return id;
    },
    get,
    async *each(principal) {
      const { items, hasMore } = await schedules.list(principal, WHOLE_LIST);
      if (hasMore) throw listTooLarge();
      for (const { name } of items) {
        const schedule = await get(principal, name).catch(nullIfUnknown);
        if (schedule !== null) yield schedule;
      }
    },
    async setPaused(requester, id, paused) {
      await get(requester, id);
      await schedules.update(requester, id, { paused });
    },
    async remove(requester, id) {
      await get(requester, id);
      await schedules.remove(requester, id);
    },
  };
}

/** The protocol has no pages. */
export function listTooLarge(): Problem {
  return new Problem("list_too_large", { other: "/v1/schedules" });
}

/** Each firing has its own times. */
function withoutTime(request: TaskRequest, scheduled: NonNullable<Message["scheduled"]>): TaskRequest {
  const { notBeforeMs: _, ...message } = request.message ?? {};
  return { ...request, runAt: null, message: { ...message, scheduled } };
}

/** As /v1 shows the task of a schedule: the fields of a direct task, redacted ones as hashes. */
function shownText({ queue, call, message, maxRetries, timeoutSeconds, tags }: TaskRequest): string {
  const { url, method, headers, body } = shownCall(call, message);
  return JSON.stringify({
    queue,
    targetUrl: url,
    method,
    headers,
    ...(body !== null && { body }),
    ...(maxRetries !== null && { maxRetries }),
    ...(timeoutSeconds !== null && { timeout: timeoutSeconds }),
    ...(tags !== null && { tags }),
  });
}

/** The messages of one firing: one for each endpoint that a URL group has by then. */
export function createFanOut(sql: Sql): FanOut {
  return {
    async recipientsOf(teamId, { call: { url }, message }) {
      if (message?.topic === undefined) return [{ url }];
      const group = await findUrlGroup(sql, teamId, message.topic);
      if (group === null) throw new Problem("url_group_not_found", { name: message.topic });
      return group.endpoints;
    },
    requestTo(request, { url, name }) {
      const { scheduled: _, endpoint: _endpoint, ...message } = request.message ?? {};
      const endpoint = message.topic !== undefined && name !== undefined ? { endpoint: name } : {};
      return { ...request, call: { ...request.call, url }, message: { ...message, ...endpoint } };
    },
  };
}

function nullIfUnknown(error: unknown): null {
  if (error instanceof Problem && error.code === "schedule_not_found") return null;
  throw error;
}
