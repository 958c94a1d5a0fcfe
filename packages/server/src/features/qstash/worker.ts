import { createHmac, createSecretKey, hash, type KeyObject, randomUUID } from "node:crypto";
import type { Claim } from "../../domain/claim.ts";
import { UNBOUNDED } from "../../domain/limits.ts";
import type { Message, MessageCallback } from "../../domain/message.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { ownHeaders } from "../../domain/own-headers.ts";
import { Problem } from "../../domain/problem.ts";
import type { NewTask } from "../../domain/task.ts";
import { acceptRequest } from "../../domain/task-acceptance.ts";
import type { Log } from "../../engine/log.ts";
import type { HasRoomFor, MessageCalls } from "../../engine/message-calls.ts";
import { newUuid } from "../../service/new-uuid.ts";
import type { MessageKeyService } from "../../service/vault/message-key-service.ts";
import { judgeMessage } from "./domain-answer.ts";
import { createdMsOf, formatDlqId, headerLists } from "./domain-message-id.ts";
import { callbackRequest, MESSAGE_QUEUE } from "./domain-request.ts";

/** Of a signature. */
const VALID_SECONDS = 300;
const MAX_KEYS = 1000;
const JWT_HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");

/** The attempts of messages: signed headers, QStash's rules for answers, and callbacks. */
export function createMessageCalls(deps: {
  readonly keys: Pick<MessageKeyService, "keysFor">;
  readonly log: Log;
  readonly nowMs: () => number;
}): MessageCalls {
  /** Each key is decoded once: there are few keys and many calls. */
  const decoded = new Map<string, KeyObject>();
  function keyOf(text: string): KeyObject {
    const known = decoded.get(text);
    if (known !== undefined) return known;
    if (decoded.size >= MAX_KEYS) decoded.clear();
    const key = createSecretKey(Buffer.from(text));
    decoded.set(text, key);
    return key;
  }

  function sign(key: string, claim: Claim, message: Message): string {
    const iat = Math.floor(deps.nowMs() / 1000);
    // By hand: only the URL can contain what JSON escapes.
    const payload =
      `{"iss":"Upstash","sub":${JSON.stringify(claim.call.url)},"iat":${iat},"nbf":0,"exp":${iat + VALID_SECONDS},` +
      `"jti":"jwt_${randomUUID()}","body":"${bodyHash(claim.call.body, message)}"}`;
    const text = `${JWT_HEADER}.${Buffer.from(payload).toString("base64url")}`;
    return `${text}.${createHmac("sha256", keyOf(key)).update(text).digest("base64url")}`;
  }

  /** Null if this server cannot decrypt the keys of the team. Then the target decides about an unsigned call. */
  function withoutKey(error: unknown, teamId: number): null {
    if (!(error instanceof Problem) || error.code !== "vault_off") throw error;
    deps.log.warn({ team: teamId }, "message.not_signed");
    return null;
  }

  function headersWith(
    key: string | null,
    claim: Claim,
    message: Message,
    publicId: string,
  ): Record<string, string> {
    const { topic, schedule } = message;
    const headers = ownHeaders(claim, publicId);
    headers["user-agent"] = "Upstash-QStash";
    headers["upstash-message-id"] = publicId;
    headers["upstash-retried"] = String(claim.failures);
    if (topic !== undefined) headers["upstash-topic-name"] = topic;
    if (schedule !== undefined) headers["upstash-schedule-id"] = schedule;
    if (key !== null) headers["upstash-signature"] = sign(key, claim, message);
    return headers;
  }

  return {
    headersOf(claim, message, publicId) {
      const keys = deps.keys.keysFor(claim.teamId);
      // Nearly always cached; then no promise is created.
      if (!(keys instanceof Promise)) return headersWith(keys.current, claim, message, publicId);
      return keys
        .then(
          ({ current }) => current,
          (error) => withoutKey(error, claim.teamId),
        )
        .then((key) => headersWith(key, claim, message, publicId));
    },
    judge: judgeMessage,
    followersOf(claim, message, outcome, verdict, hasRoom) {
      const { callback, failureCallback } = message;
      const canFail = failureCallback !== undefined && verdict.kind !== "completed";
      if (callback === undefined && !canFail) return null;
      return (hasFailed) => {
        const followers: NewTask[] = [];
        if (callback !== undefined)
          followers.push(callbackTask(claim, message, callback, reportOf(claim, message, outcome, hasRoom)));
        if (failureCallback !== undefined && hasFailed)
          followers.push(failureTask(claim, message, failureCallback, outcome, hasRoom));
        return followers;
      };
    },
    failureOf(returned, hasRoom) {
      const { message, error } = returned;
      const { failureCallback } = message;
      if (failureCallback === undefined) throw new Error("The message has no failure callback");
      return failureTask(returned, message, failureCallback, { kind: "lost", message: error }, hasRoom);
    },
  };
}

/** Base64url with padding, as receivers expect it. */
function bodyHash(body: string | null, { base64 }: Message): string {
  const bytes = base64 === true ? Buffer.from(body ?? "", "base64") : (body ?? "");
  const digest = hash("sha256", bytes, "base64");
  return digest.replaceAll("+", "-").replaceAll("/", "_");
}

/** As much of a claim as its callbacks tell about. */
type Source = Pick<
  Claim,
  "teamId" | "id" | "queueId" | "queue" | "call" | "failures" | "maxRetries" | "attempt"
>;

/** The attempt's, or none: its worker was lost. */
type Ended = Outcome | { readonly kind: "lost"; readonly message: string };

/** Bytes of the answer and of the message's body that a callback has if the team's storage is full. */
const LEAST_BYTES = 1_024;

/** What a callback tells about one attempt. Every callback is created, and counted, at the team's storage limit too: with less text. */
function reportOf(claim: Source, message: Message, outcome: Ended, hasRoom: HasRoomFor): object {
  const { call, id } = claim;
  const createdAt = createdMsOf(id);
  const text = outcome.kind === "response" ? outcome.body : outcome.message;
  const sent = Buffer.from(call.body ?? "", message.base64 === true ? "base64" : "utf8");
  const isWhole =
    text.length + sent.length <= LEAST_BYTES || hasRoom(Math.ceil(((text.length + sent.length) * 4) / 3));
  const part = (bytes: Buffer) => (isWhole ? bytes : bytes.subarray(0, LEAST_BYTES)).toString("base64");
  const answer =
    outcome.kind === "response"
      ? { status: outcome.statusCode, header: headerLists(outcome.headers) }
      : { status: (outcome.kind === "failure" ? outcome.statusCode : null) ?? 0, header: {} };
  return {
    ...answer,
    body: part(Buffer.from(text)),
    retried: claim.failures,
    maxRetries: claim.maxRetries,
    sourceMessageId: id,
    topicName: message.topic,
    endpointName: message.endpoint,
    url: call.url,
    method: call.method,
    sourceHeader: headerLists(call.headers),
    sourceBody: part(sent),
    notBefore: message.notBeforeMs ?? createdAt,
    createdAt,
    scheduleId: message.schedule,
    ...(!isWhole && { truncated: true }),
  };
}

function failureTask(
  source: Source,
  message: Message,
  callback: MessageCallback,
  outcome: Ended,
  hasRoom: HasRoomFor,
): NewTask {
  const dlqId = formatDlqId(source.id, source.attempt);
  const report = { ...reportOf(source, message, outcome, hasRoom), dlqId };
  return callbackTask(source, message, callback, report);
}

/** Its address and headers were checked when the message was published, and the call checks them again. */
function callbackTask(
  { teamId, id, maxRetries, queue, queueId }: Source,
  { retryDelay, redact }: Message,
  callback: MessageCallback,
  report: object,
): NewTask {
  const request = callbackRequest(callback, JSON.stringify(report), {
    id,
    maxRetries,
    retryDelay,
    redact,
    ...(queue !== MESSAGE_QUEUE && { lineOf: queueId }),
  });
  const accepted = acceptRequest(
    { ...request, call: { ...request.call, headers: {} } },
    {
      teamId,
      sandbox: false,
      idempotency: null,
      terms: { plan: "enterprise", limits: UNBOUNDED },
      requireTokenUse: () => {},
    },
    {
      findProvider: () => null,
      checkReferences: async () => {},
      refuseMentions: async () => {},
      newTaskId: newUuid,
      newCallback: () => {
        throw new Error("A message awaits no callback");
      },
    },
  );
  if (accepted instanceof Promise) throw new Error("A call without headers refers to no token");
  return { ...accepted.task, call: request.call };
}
