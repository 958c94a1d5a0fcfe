import type { FastifyReply, FastifyRequest } from "fastify";
import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, RECORD, SMALL } from "../../api/http/cost.ts";
import { scanOf } from "../../api/http/scan-turns.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { sendText } from "../../api/tasks/task-answer.ts";
import { openAnswerRoom } from "../../domain/answer-room.ts";
import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import { isStorable, STORABLE_RULE } from "../../domain/storable-text.ts";
import type { JsonGate } from "../../json/gate.ts";
import { FILTERS, type MessageFilter, readFilter } from "./domain-filter.ts";
import { formatLogCursor } from "./domain-message-id.ts";
import { readOptions } from "./domain-options.ts";
import { HIDDEN, headersIn, isObject, jsonIn, parameterIn, queryIn } from "./routes-http.ts";
import type { MessageService, MessageTask } from "./service-messages.ts";
import type { Overrides, RetryMessage } from "./service-retries.ts";
import { failedView, type LogEntry, type LogState, logEntries, messageView } from "./view.ts";

interface MessageDeps {
  readonly messages: MessageService;
  readonly retry: RetryMessage;
  readonly json: JsonGate;
  readonly now: () => Date;
}

const read = {
  ...HIDDEN,
  config: { ...access("tasks:read"), ...costs("point", { rows: 1, bytes: RECORD }) },
};
const write = {
  ...HIDDEN,
  config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
};
/** Messages by their ids are found by an index. */
const namesMessages = (request: FastifyRequest) =>
  ["messageId", "messageIds", "dlqIds"].some((name) => queryIn(request).has(name));
const readMany = {
  ...HIDDEN,
  config: { ...read.config, ...costs("scan", { rows: 50_000, bytes: RECORD, unless: namesMessages }) },
};
const writeMany = {
  ...HIDDEN,
  config: { ...write.config, ...costs("scan", { rows: 50_000, bytes: SMALL, unless: namesMessages }) },
};
const cancelMany = {
  ...HIDDEN,
  config: { ...write.config, ...costs("scan", { rows: 1_000_000, bytes: SMALL, unless: namesMessages }) },
};

export function registerMessageRoutes(app: Api, deps: MessageDeps): void {
  const { messages, json } = deps;

  app.get("/messages/:messageId", read, async (request) =>
    messageView(await messages.get(callerOf(request), parameterIn(request, "messageId"))),
  );
  app.delete("/messages/:messageId", write, async (request) => {
    await messages.cancel(requesterOf(request), parameterIn(request, "messageId"));
    return { cancelled: 1 };
  });
  app.delete("/messages", cancelMany, async (request) => {
    const filter = await filterIn(request, json, FILTERS.cancel);
    return { cancelled: await messages.cancelAll(requesterOf(request), filter, scanOf(request)) };
  });
  registerDlqRoutes(app, deps);
  for (const [path, member] of [
    ["/events", "events"],
    ["/logs", "logs"],
  ] as const)
    app.get(path, readMany, async (request, reply) => {
      const { entries, cursor } = await logsOf(messages, request);
      return sendPage(reply, member, entries, cursor);
    });
}

function registerDlqRoutes(app: Api, { messages, retry, json, now }: MessageDeps): void {
  app.get("/dlq", readMany, async (request, reply) => {
    const filter = await filterIn(request, json, FILTERS.dlq);
    const room = openAnswerRoom();
    const texts: string[] = [];
    const take = (message: MessageTask) => {
      const text = JSON.stringify(failedView(message));
      return room.take(text) && texts.push(text) > 0;
    };
    const cursor = await messages.listFailed(callerOf(request), filter, scanOf(request), take);
    return sendPage(reply, "messages", texts, cursor);
  });
  app.get("/dlq/:dlqId", read, async (request) =>
    failedView(await messages.getFailed(callerOf(request), parameterIn(request, "dlqId"))),
  );
  app.delete("/dlq/:dlqId", write, async (request) => {
    const requester = requesterOf(request);
    await messages.dismiss(requester, await messages.getFailed(requester, parameterIn(request, "dlqId")));
    return { deleted: 1 };
  });
  app.delete("/dlq", writeMany, async (request) => {
    const requester = requesterOf(request);
    const filter = await filterIn(request, json, FILTERS.dlq);
    const dismiss = (message: MessageTask) => messages.dismiss(requester, message);
    const { done, cursor } = await messages.eachFailed(requester, filter, scanOf(request), dismiss);
    return { deleted: done.length, ...(cursor !== null && { cursor }) };
  });
  app.post("/dlq/retry", writeMany, async (request, reply) => {
    const requester = requesterOf(request);
    const filter = await filterIn(request, json, FILTERS.dlq);
    const overrides = overridesIn(request, now());
    const again = (message: MessageTask) => retry(requester, message, overrides);
    const { done, cursor } = await messages.eachFailed(requester, filter, scanOf(request), again);
    reply.code(201);
    return { responses: done.map((id) => ({ messageId: id })), ...(cursor !== null && { cursor }) };
  });
  app.post("/dlq/retry/:dlqId", write, async (request, reply) => {
    const requester = requesterOf(request);
    const message = await messages.getFailed(requester, parameterIn(request, "dlqId"));
    await retry(requester, message, overridesIn(request, now()));
    reply.code(201);
    return { messageId: message.id };
  });
}

/** From the query, or from a JSON body: a client that sends its ids there must not have them ignored. */
async function filterIn(
  request: FastifyRequest,
  json: JsonGate,
  known: readonly string[],
): Promise<MessageFilter> {
  const query = new Map(queryIn(request));
  const body = await jsonIn(request, json);
  if (body !== undefined && body !== null) {
    if (!isObject(body)) throw invalid([mustBe("body", "an object")]);
    for (const [name, value] of Object.entries(body)) {
      if (value === null) continue;
      query.set(name, [...(query.get(name) ?? []), ...textsIn(name, value)]);
    }
  }
  return readFilter(query, known);
}

/** Only what has a text of its own: an object would have to be asked for one. */
function textsIn(name: string, value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map((each: unknown) => {
    const text = typeof each === "number" || typeof each === "boolean" ? String(each) : each;
    if (typeof text !== "string" || !isStorable(text))
      throw invalid([mustBe(echo(name), `a value or a list of values, each ${STORABLE_RULE}`)]);
    return text;
  });
}

/** The content type is that of the ids in the body, not of a message. */
function overridesIn(request: FastifyRequest, now: Date): Overrides {
  const headers = new Map(headersIn(request));
  headers.delete("content-type");
  const options = readOptions(headers, "retry", now);
  return { options, hasMethod: headers.has("upstash-method") };
}

const PAGE = 100;
const STATES: Readonly<Record<string, readonly LogState[]>> = {
  CREATED: ["CREATED"],
  ACTIVE: ["ACTIVE"],
  ERROR: ["ERROR"],
  RETRY: ["RETRY"],
  DELIVERED: ["DELIVERED"],
  FAILED: ["FAILED"],
  CANCEL_REQUESTED: ["CANCEL_REQUESTED"],
  CANCELED: ["CANCELED"],
  CANCELLED: ["CANCELED"],
  IN_PROGRESS: ["CREATED", "ACTIVE", "ERROR", "RETRY", "CANCEL_REQUESTED"],
};

/**
 * The newest messages first, and the entries of a page in the order of time. A page ends where the next entry has no room:
 * its cursor then names the message, and how many of its entries are still to be shown.
 */
async function logsOf(messages: MessageService, request: FastifyRequest) {
  const filter = readFilter(queryIn(request), FILTERS.logs);
  const states = filter.states?.flatMap((state) => {
    const known = STATES[state.toUpperCase()];
    if (known === undefined) throw invalid([mustBe("state", `one of ${Object.keys(STATES).join(", ")}`)]);
    return known;
  });
  const { cursor: after, entriesLeft } = filter;
  const room = openAnswerRoom();
  const shown: { readonly time: number; readonly text: string }[] = [];
  let inside: string | null = null;
  const page = {
    first: entriesLeft === null ? null : after,
    limit: Math.min(filter.count ?? PAGE, PAGE),
  };
  const next = await messages.list(callerOf(request), filter, page, scanOf(request), (message) => {
    const entries = logEntries(message, states);
    const isBegun = message.id === after && entriesLeft !== null;
    if (isBegun) entries.splice(entriesLeft);
    for (let left = entries.length; left > 0; left -= 1) {
      const entry = entries[left - 1] as LogEntry;
      const text = JSON.stringify(entry);
      if (!room.take(text)) {
        if (isBegun || left < entries.length) inside = formatLogCursor(message.id, left);
        return false;
      }
      shown.push({ time: entry.time, text });
    }
    return true;
  });
  shown.sort((one, other) => other.time - one.time);
  return { entries: shown.map(({ text }) => text), cursor: inside ?? next };
}

function sendPage(
  reply: FastifyReply,
  member: string,
  texts: readonly string[],
  cursor: string | null,
): FastifyReply {
  const end = cursor === null ? "" : `,"cursor":${JSON.stringify(cursor)}`;
  return sendText(reply, `{"${member}":[${texts.join()}]${end}}`);
}
