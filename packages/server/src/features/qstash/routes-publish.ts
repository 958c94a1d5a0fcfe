import type { FastifyRequest } from "fastify";
import { accessForTestKeys } from "../../api/http/access.ts";
import { requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB } from "../../api/http/cost.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { openAnswerRoom } from "../../domain/answer-room.ts";
import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import type { Requester } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { JsonGate } from "../../json/gate.ts";
import type { LoopShare } from "../../service/access/loop-share.ts";
import { inTurns } from "../../service/turns.ts";
import { type Destination, NAME_PATTERN } from "./domain-destination.ts";
import { type HeaderMap, type MessageOptions, readOptions } from "./domain-options.ts";
import { createOptionsMemory } from "./domain-options-memory.ts";
import type { MessageBody, Recipient } from "./domain-request.ts";
import {
  bytesIn,
  destinationIn,
  HIDDEN,
  headersIn,
  isObject,
  jsonIn,
  parameterIn,
  requireDestination,
} from "./routes-http.ts";
import { bodyOf, bodyOfText, type Published, type PublishService } from "./service-publish.ts";

/** After fan-out. */
const MOST_MESSAGES = 1000;
/** As of the batch of /v1. */
const BATCH_BYTES = 10 * 2 ** 20;
const MOST_HEADERS = 100;

interface PublishDeps {
  readonly publish: PublishService;
  readonly json: JsonGate;
  readonly loop: Pick<LoopShare, "spent">;
  readonly now: () => Date;
}

export function registerPublishRoutes(app: Api, deps: PublishDeps): void {
  const { publish, json, now } = deps;
  const config = { ...accessForTestKeys("tasks:write"), ...costs("fan-out", { rows: 100, bytes: MIB }) };
  const memory = createOptionsMemory();
  const optionsIn = (request: FastifyRequest): MessageOptions => {
    const key = memory.keyOf(request.raw.rawHeaders);
    return memory.get(key, () => readOptions(headersIn(request), "publish", now()));
  };
  const itemBytes = app.initialConfig.bodyLimit ?? BATCH_BYTES;

  app.post("/publish/*", { ...HIDDEN, config }, async (request, reply) => {
    const destination = destinationIn(request, 2);
    const published = await publish.publish(
      requesterOf(request),
      destination,
      optionsIn(request),
      bodyOf(bytesIn(request)),
      null,
    );
    return answer(reply, destination, published);
  });

  app.post("/enqueue/:queueName/*", { ...HIDDEN, config }, async (request, reply) => {
    const destination = destinationIn(request, 3);
    const queue = requireQueueName(parameterIn(request, "queueName"));
    const published = await publish.publish(
      requesterOf(request),
      destination,
      optionsIn(request),
      bodyOf(bytesIn(request)),
      queue,
    );
    return answer(reply, destination, published);
  });

  app.post(
    "/batch",
    {
      ...HIDDEN,
      bodyLimit: BATCH_BYTES,
      config: { ...config, ...costs("fan-out", { rows: 1_000, bytes: MIB }), isPatient: true },
    },
    async (request) => {
      const items = await jsonIn(request, json);
      if (!Array.isArray(items)) throw invalid([mustBe("body", "a list of messages")]);
      const requester = requesterOf(request);
      const few = mustBe(
        "body",
        `a list of at most ${MOST_MESSAGES} messages, URL groups counted by endpoint`,
      );
      if (items.length > MOST_MESSAGES) throw invalid([few]);
      const onSpent = (ms: number) => deps.loop.spent(requester.teamId, "request", ms);
      const readOne = (item: unknown) => refusalOr(() => readItem(item, now(), itemBytes));
      const read = await inTurns(requester.teamId, items, readOne, onSpent);
      const groups = await readGroups(publish, requester, read);
      if (groups === null) throw invalid([few]);
      const publishOne = (item: (typeof read)[number]) => {
        const result = publishItem(publish, requester, item, groups);
        // Awaited below, after further turns.
        result.catch(() => {});
        return result;
      };
      const published = await inTurns(requester.teamId, read, publishOne, onSpent);
      return answersOf(await Promise.all(published));
    },
  );
}

interface Item {
  readonly destination: Destination;
  readonly options: ReturnType<typeof readOptions>;
  readonly body: MessageBody;
  readonly queue: string | null;
}

function readItem(item: unknown, now: Date, mostBytes: number): Item {
  if (!isObject(item)) throw new Problem("body_not_object");
  const { destination, headers = {}, body, queue, ...others } = item;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalid([{ field: echo(unknown), error: `Unknown field "${echo(unknown)}" of a message` }]);
  if (typeof destination !== "string")
    throw invalid([mustBe("destination", "a URL or the name of a URL group")]);
  if (body !== undefined && body !== null && typeof body !== "string")
    throw invalid([mustBe("body", "a string")]);
  if (queue !== undefined && queue !== null && typeof queue !== "string")
    throw invalid([mustBe("queue", "a name")]);
  if (typeof body === "string" && Buffer.byteLength(body) > mostBytes) throw new Problem("body_too_large");
  return {
    destination: requireDestination(destination),
    options: readOptions(headersOf(headers), "publish", now),
    body: typeof body === "string" ? bodyOfText(body) : bodyOf(null),
    queue: typeof queue === "string" ? requireQueueName(queue) : null,
  };
}

function headersOf(headers: unknown): HeaderMap {
  if (!isObject(headers)) throw invalid([mustBe("headers", "an object")]);
  const entries = Object.entries(headers);
  if (entries.length > MOST_HEADERS) throw invalid([mustBe("headers", `at most ${MOST_HEADERS}`)]);
  return new Map(
    entries.map(([name, value]) => {
      const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
      if (!texts.every((text) => typeof text === "string"))
        throw invalid([mustBe(`headers[${JSON.stringify(echo(name))}]`, "a string, or a list of strings")]);
      return [name.toLowerCase(), texts.join(", ")];
    }),
  );
}

/** The endpoints of URL groups, by the name of the group. */
type Groups = ReadonlyMap<string, readonly Recipient[]>;

/**
 * The URL groups of a batch, each read once: a group may have 800 kB. Null if the messages are too many after fan-out. A group that
 * cannot be resolved is refused when it is published.
 */
async function readGroups(
  publish: PublishService,
  requester: Requester,
  items: readonly (Item | Problem)[],
): Promise<Groups | null> {
  const groups = new Map<string, readonly Recipient[]>();
  let size = 0;
  for (const item of items) {
    if (item instanceof Problem || item.destination.kind === "url") {
      size += 1;
    } else {
      const { destination } = item;
      const recipients =
        groups.get(destination.name) ??
        (await publish.recipientsOf(requester, destination).catch(() => null));
      if (recipients !== null) groups.set(destination.name, recipients);
      size += recipients?.length ?? 0;
    }
    if (size > MOST_MESSAGES) return null;
  }
  return groups;
}

/** The messages of an item, or why there are none. */
type ItemResult =
  | { readonly destination: Destination; readonly published: readonly Published[] }
  | { readonly error: string };

/** A bad item does not stop the others. */
async function publishItem(
  publish: PublishService,
  requester: Requester,
  item: Item | Problem,
  groups: Groups,
): Promise<ItemResult> {
  if (item instanceof Problem) return { error: item.message };
  const { destination, options, body, queue } = item;
  try {
    const recipients = destination.kind === "group" ? groups.get(destination.name) : undefined;
    const published = await publish.publish(requester, destination, options, body, queue, recipients);
    return { destination, published };
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return { error: error.message };
    throw error;
  }
}

function refusalOr<T>(read: () => T): T | Problem {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

export function requireQueueName(name: string): string {
  if (!NAME_PATTERN.test(name))
    throw invalid([mustBe("queueName", "1 to 64 letters, digits, dots, underscores or hyphens")]);
  return name;
}

function answer(
  reply: { code(status: number): unknown },
  destination: Destination,
  published: readonly Published[],
): unknown {
  if (published.length > 0 && published.every(({ deduplicated }) => deduplicated)) reply.code(202);
  const [answered] = answersOf([{ destination, published }]);
  return answered;
}

/** All ids, and the URLs of groups as far as the answer has room: each may have 24 kB, and stand there a thousand times. */
function answersOf(results: readonly ItemResult[]): readonly unknown[] {
  const answers = (hasRoom: (url: string) => boolean) =>
    results.map((each) => ("error" in each ? each : toAnswer(each.destination, each.published, hasRoom)));
  const room = openAnswerRoom(Buffer.byteLength(JSON.stringify(answers(() => false))));
  return answers((url) => url.length < room.left && room.take(`"url":${JSON.stringify(url)}`));
}

function toAnswer(
  destination: Destination,
  published: readonly Published[],
  hasRoom: (url: string) => boolean,
): unknown {
  const repeated = (isRepeated: boolean) => isRepeated && { deduplicated: true };
  if (destination.kind === "group")
    return published.map(({ messageId, url, deduplicated }) => ({
      messageId,
      ...(hasRoom(url) && { url }),
      ...repeated(deduplicated),
    }));
  const [only] = published;
  return only?.deduplicated === true
    ? { messageId: only.messageId, deduplicated: true }
    : { messageId: only?.messageId };
}
