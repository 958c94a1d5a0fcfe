import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { RefuseUrl } from "../../domain/call.ts";
import { invalid, mustBe } from "../../domain/complaint.ts";
import type { Requester } from "../../domain/identity/principal.ts";
import { requireScope } from "../../domain/identity/principal.ts";
import { within } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem.ts";
import { isStorable } from "../../domain/storable-text.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import type { LoopShare } from "../../service/access/loop-share.ts";
import type { QueueService } from "../../service/tasks/queue-service.ts";
import type { TaskService } from "../../service/tasks/task-service.ts";
import { inTurns } from "../../service/turns.ts";
import type { Database } from "../../store/sql.ts";
import type { Destination } from "./domain-destination.ts";
import type { MessageOptions } from "./domain-options.ts";
import {
  callbackRequest,
  DEFAULT_RETRIES,
  DEFAULT_TIMEOUT_SECONDS,
  MESSAGE_QUEUE,
  type MessageBody,
  messageRequest,
  type Recipient,
} from "./domain-request.ts";
import { createMessageDeduplication } from "./service-deduplication.ts";
import { orderOf } from "./service-queues.ts";
import { findUrlGroup } from "./store.ts";

/** A message that was published, or the earlier one that it repeats. */
export interface Published {
  readonly messageId: string;
  readonly url: string;
  readonly deduplicated: boolean;
}

export interface PublishService {
  /** One per endpoint of a URL group, otherwise one. The caller may pass the destination's `recipients` if it has read them. */
  publish(
    requester: Requester,
    destination: Destination,
    options: MessageOptions,
    body: MessageBody,
    queue: string | null,
    recipients?: readonly Recipient[],
  ): Promise<readonly Published[]>;
  /** The URLs of a destination. Refuses a group that does not exist. */
  recipientsOf(requester: Requester, destination: Destination): Promise<readonly Recipient[]>;
  /** Refuses what could not be published now, and makes sure of the queue that callbacks need. */
  check(requester: Requester, request: TaskRequest): Promise<void>;
  /** Creates the queue if it does not exist. */
  ensureQueue(requester: Requester, name: string): Promise<void>;
}

/** More would not be used: a queue's concurrency is at most this. */
const MOST_CONCURRENCY = 1000;

export function createPublishService(deps: {
  readonly database: Database;
  readonly tasks: TaskService;
  readonly queues: QueueService;
  readonly changes: Pick<TaskChanges, "created">;
  readonly refuseUrl: RefuseUrl;
  readonly loop: Pick<LoopShare, "spent">;
  readonly now: () => Date;
}): PublishService {
  const { database, tasks, queues } = deps;
  const deduplicate = createMessageDeduplication(deps);
  /** Teams whose queue of messages is known to exist: it may be deleted meanwhile, so a miss creates it again. */
  const ready = new Set<number>();

  /** Of two that find none, one creates it. */
  async function ensureQueue(requester: Requester, name: string): Promise<void> {
    const { limits } = requester;
    const isOwn = name === MESSAGE_QUEUE;
    const concurrency = isOwn ? Math.min(limits.callsInFlight ?? MOST_CONCURRENCY, MOST_CONCURRENCY) : 1;
    const settings = {
      concurrency,
      ...orderOf(name, concurrency),
      maxRetries: within(limits, "retries", DEFAULT_RETRIES),
      timeoutSeconds: within(limits, "timeoutSeconds", DEFAULT_TIMEOUT_SECONDS),
    };
    try {
      await queues.create(requester, name, settings);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "queue_exists") throw error;
    }
    if (isOwn) ready.add(requester.teamId);
  }

  /** By team and name: the thousand messages of a batch that find no queue create it once. */
  const creating = new Map<string, Promise<void>>();

  function ensureOnce(requester: Requester, name: string): Promise<void> {
    const key = `${requester.teamId} ${name}`;
    const earlier = creating.get(key);
    if (earlier !== undefined) return earlier;
    const made = ensureQueue(requester, name).finally(() => creating.delete(key));
    creating.set(key, made);
    return made;
  }

  function withQueue<T>(requester: Requester, name: string, work: () => Promise<T>): Promise<T> {
    return work().catch(async (error) => {
      if (!(error instanceof Problem) || error.code !== "queue_not_found") throw error;
      await ensureOnce(requester, name);
      return work();
    });
  }

  async function recipientsOf(
    { teamId }: Requester,
    destination: Destination,
  ): Promise<readonly Recipient[]> {
    if (destination.kind === "url") return [{ url: destination.url }];
    const group = await findUrlGroup(database, teamId, destination.name);
    if (group === null)
      throw invalid([
        mustBe("destination", "a URL that begins with http:// or https://, or the name of a URL group"),
      ]);
    const { name: topic } = group;
    return group.endpoints.map(({ url, name }) => ({
      url,
      topic,
      ...(name !== undefined && { endpoint: name }),
    }));
  }

  async function check(requester: Requester, request: TaskRequest): Promise<void> {
    const { callback, failureCallback } = request.message ?? {};
    const source = {
      id: "",
      maxRetries: request.maxRetries ?? within(requester.limits, "retries", DEFAULT_RETRIES),
    };
    for (const each of [callback, failureCallback]) {
      if (each === undefined) continue;
      if (!ready.has(requester.teamId)) await ensureOnce(requester, MESSAGE_QUEUE);
      // Its retries and timeout obey the plan, as do the tokens in its headers. Later nothing can refuse it.
      await tasks.check(originOf(requester), callbackRequest(each, "", source));
    }
  }

  async function publishOne(
    requester: Requester,
    request: TaskRequest,
    key: string | null,
  ): Promise<Published> {
    const { url } = request.call;
    if (request.message?.callback !== undefined || request.message?.failureCallback !== undefined)
      await check(requester, request);
    if (key === null) {
      const { id } = await withQueue(requester, request.queue, () => tasks.create(requester, request));
      return { messageId: id, url, deduplicated: false };
    }
    return withQueue(requester, request.queue, () => publishOnce(requester, request, key));
  }

  async function publishOnce(requester: Requester, request: TaskRequest, key: string): Promise<Published> {
    const { task } = await tasks.accept(originOf(requester), request);
    const messageId = await deduplicate({ task, key });
    return { messageId, url: request.call.url, deduplicated: messageId !== task.id };
  }

  return {
    async publish(requester, destination, options, body, queue, known) {
      const recipients =
        destination.kind === "url"
          ? [{ url: destination.url }]
          : (known ?? (await recipientsOf(requester, destination)));
      const context = {
        queue: queue ?? MESSAGE_QUEUE,
        now: deps.now(),
        limits: requester.limits,
        refuseUrl: deps.refuseUrl,
      };
      const [only] = recipients;
      if (recipients.length === 1 && only !== undefined) {
        const request = messageRequest(options, only, body, context);
        return [await publishOne(requester, request, keyOf(options, request))];
      }
      const onSpent = (ms: number) => deps.loop.spent(requester.teamId, "request", ms);
      const inTurn = <From, To>(items: readonly From[], work: (item: From) => To) =>
        inTurns(requester.teamId, items, work, onSpent);
      // Before the first message is stored: one address that is refused refuses all.
      const requests = await inTurn(recipients, (each) => messageRequest(options, each, body, context));
      const begun = await inTurn(requests, (request) => {
        const published = publishOne(requester, request, keyOf(options, request));
        // Awaited below, after further turns.
        published.catch(() => {});
        return published;
      });
      return Promise.all(begun);
    },
    recipientsOf,
    check,
    ensureQueue,
  };
}

/** The task's origin for `accept` and `check`, as a single create has it. */
export function originOf(requester: Requester) {
  return {
    teamId: requester.teamId,
    sandbox: requester.environment === "test",
    terms: requester,
    idempotency: null,
    requireTokenUse: () => requireScope(requester, "tokens:use"),
  };
}

export function bodyOf(bytes: Buffer | null): MessageBody {
  if (bytes === null || bytes.length === 0) return { text: null, isBase64: false };
  if (isUtf8(bytes)) {
    const text = bytes.toString("utf8");
    if (isStorable(text)) return { text, isBase64: false };
  }
  return { text: bytes.toString("base64"), isBase64: true };
}

/** Most texts are stored as they are, without a copy as bytes. */
export function bodyOfText(text: string): MessageBody {
  if (text === "" || !isStorable(text)) return bodyOf(Buffer.from(text));
  return { text, isBase64: false };
}

/** Null without deduplication. Ids are the team's; in a URL group each endpoint has its own. */
function keyOf(
  { deduplicationId, isDeduplicatedByContent, headers }: MessageOptions,
  { call: { url, body }, message }: TaskRequest,
): string | null {
  if (deduplicationId !== null)
    return sha256(["id", deduplicationId, ...(message?.topic === undefined ? [] : [message.topic, url])]);
  if (!isDeduplicatedByContent) return null;
  const sorted = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  return sha256(["content", url, body, sorted]);
}

function sha256(value: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(value), "hex");
}
