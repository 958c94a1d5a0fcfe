import { Type } from "typebox";
import { BACKOFFS, RETRY_MAX_DELAY_SECONDS } from "../../domain/backoff.ts";
import { CALL_LIMITS, type Call, METHODS } from "../../domain/call.ts";
import { formatId } from "../../domain/public-id.ts";
import { DEFAULT_QUEUE } from "../../domain/queue.ts";
import { LABEL_LIMITS } from "../../domain/tag-rules.ts";
import { MAX_WAIT_DEFAULT_SECONDS, PRIORITY_DEFAULT, type TaskMoment } from "../../domain/task.ts";
import type { TaskDraft } from "../../domain/task-copies.ts";
import { CORRECTION_NAMES } from "../../domain/task-correction.ts";
import { publicTaskId } from "../../domain/task-id.ts";
import {
  IDEMPOTENCY_KEY_PATTERN,
  LONGEST_DELAY_SECONDS,
  LONGEST_RETRY_DELAY_SECONDS,
  LONGEST_WAIT_SECONDS,
} from "../../domain/task-request.ts";
import { DirectDedupe, dedupeView, QueueDedupe } from "../schemas/dedupe.ts";
import { instant, oneOf, ref, statusList, textMap } from "../schemas/field.ts";
import { AskedFlow } from "../schemas/flow.ts";
import { OwnPollConfig, PollConfig } from "../schemas/poll-config.ts";
import { DirectSimulation, QueueSimulation } from "../schemas/simulation.ts";
import { STATUSES } from "../schemas/task-status.ts";
import {
  ANSWERS_AND_RECORDS,
  always,
  DIRECT_ANSWER_AND_RECORDS,
  EVERYWHERE,
  type Field,
  moving,
  RECORDS,
  sometimes,
  type ViewedTask,
} from "./field-row.ts";
import { RawJson } from "./json-text.ts";
import {
  Attempt,
  DirectAttempt,
  DirectNotificationState,
  DirectPolls,
  NotificationState,
  Polls,
  TaskResult,
  TaskResultSummary,
  writeAttempt,
  writeNotification,
  writePolls,
} from "./task-parts.ts";

/*
 * Every field of a task, once. Below this room there is one kind of task; callers know two:
 *
 * - A *queue task* is created with `queue` and `webhook_url`. It carries a JSON payload to an address of the caller's own,
 *   signed. Its words are snake_case.
 * - A *direct task* is created with `targetUrl`. It makes a call to a third party exactly as given: method, headers, body.
 *   Its words are camelCase, and its record stands inside `task`.
 *
 * A task is answered as the kind that it was created as. What may be asked for and how it is read, what is shown and where,
 * and what the reference says of it all follow from this table. `npm run new -- field <name>` adds a field: a row here, a property in
 * `domain/task.ts`, which `domain/task-copies.ts` passes on, and a column in `store/tasks/task-columns.ts` and in a migration. Rules
 * beyond the schema stand in `domain/task-request.ts`.
 *
 * This file is longer than 300 lines: it is one table, read row by row.
 */

/** What may be given for a new task, by the names of the domain. */
export type AskedField =
  | Exclude<keyof Call, "bytes">
  | Exclude<keyof TaskDraft, "shape" | "call" | "bodyIsJson">;

function text(description: string, example: string) {
  return Type.String({ description, examples: [example] });
}

function whole(minimum: number, maximum: number, description: string, fallback?: number) {
  return Type.Integer({
    minimum,
    maximum,
    ...(fallback !== undefined && { default: fallback }),
    description,
  });
}

function flag(description: string) {
  return Type.Boolean({ default: false, description });
}

const queueName = text("Name of an existing queue.", "emails");
const aboutUrl = `The absolute http or https URL to call, without credentials, at most ${CALL_LIMITS.url} characters.`;
const aboutHeaders = (note: string) =>
  `Headers of the call, at most ${CALL_LIMITS.headers} and 16 KiB together${note}. Hop-by-hop headers, Host and ` +
  "Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault " +
  "token elsewhere in it is refused.";
const aboutCallback =
  "Anyone who has it can end the task, once. Shown here, in the answer to a repeated request (on a server with a vault) and " +
  "nowhere else.";

export const TASK_FIELDS = {
  id: {
    names: ["id", "id"],
    schema: [
      Type.String({ examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
      Type.String({ format: "uuid", examples: ["019a7e3a-75c5-7a31-a98f-db2dbf745c4d"] }),
    ],
    show: always(EVERYWHERE, publicTaskId),
  },
  queue: {
    names: ["queue", "queue"],
    schema: queueName,
    ask: {
      required: "queue",
      default: DEFAULT_QUEUE,
      schema: [
        queueName,
        Type.String({
          default: DEFAULT_QUEUE,
          description: "Name of an existing queue.",
          examples: ["media"],
        }),
      ],
    },
    show: always(ANSWERS_AND_RECORDS, (task) => task.queue),
  },
  status: {
    names: ["status", "status"],
    schema: oneOf(STATUSES, { description: "The state of the task." }),
    show: moving(always(EVERYWHERE, ({ status }: TaskMoment) => status)),
  },
  priority: {
    names: ["priority", "priority"],
    schema: whole(1, 10, "1 to 10, higher is processed first.", PRIORITY_DEFAULT),
    ask: { default: PRIORITY_DEFAULT },
    show: always(ANSWERS_AND_RECORDS, (task) => task.priority),
  },
  delaySeconds: {
    names: ["delay", "delay"],
    schema: whole(0, LONGEST_DELAY_SECONDS, "Seconds before the task becomes eligible for execution.", 0),
    ask: { default: null },
    show: always(["queue answer"], delayOf),
  },
  createdAt: {
    names: ["created_at", "createdAt"],
    schema: instant("When the task was accepted. It is on disk."),
    show: always(ANSWERS_AND_RECORDS, (task) => task.createdAt),
  },
  runAt: {
    names: ["run_at", "delayUntil"],
    schema: instant(
      "When the task becomes eligible, with a time zone; at most a year ahead. The past means now.",
    ),
    ask: { default: null },
  },
  /** Of a task from before it may have changed since: the record has it. */
  firstRunAt: {
    names: [null, "runAt"],
    schema: instant("When it becomes eligible. Not in the answer to a repeated request."),
    show: sometimes(["direct answer"], (task) => !task.replayed && task.runAt),
  },
  nextRunAt: {
    names: ["run_at", "runAt"],
    schema: instant("When it becomes, or became, eligible: later after a failed attempt that is retried."),
    show: moving(always(RECORDS, ({ runAt }: TaskMoment) => runAt)),
  },
  startedAt: {
    names: ["started_at", "startedAt"],
    schema: instant("When its first attempt began."),
    show: moving(sometimes(RECORDS, ({ startedAt }: TaskMoment) => startedAt)),
  },
  completedAt: {
    names: ["completed_at", "completedAt"],
    schema: instant("When it ended, completed, failed or cancelled."),
    show: moving(sometimes(RECORDS, ({ completedAt }: TaskMoment) => completedAt)),
  },
  body: {
    names: ["payload", "body"],
    schema: [
      Type.Unknown({
        description:
          "Any JSON value, sent as the body of the call, byte for byte as written. Default, also for null: `{}`.",
        examples: [{ user_id: 42 }],
      }),
      Type.Union(
        [
          Type.String(),
          Type.Unsafe<object>({ type: "object", additionalProperties: true }),
          Type.Array(Type.Unknown()),
        ],
        {
          description:
            "The body of the call. A string is sent unchanged; an object or an array as JSON, byte for byte as " +
            "written, with `Content-Type: application/json` unless the headers have one. Without it the call has no " +
            "body.",
          examples: [{ version: "…", input: { prompt: "a bell" } }],
        },
      ),
    ],
    ask: { default: null },
    show: { in: ["direct answer", "record"], of: shownBody, optional: "direct" },
  },
  maxRetries: {
    names: ["max_retries", "maxRetries"],
    schema: whole(
      0,
      100,
      "Retries after a failed first attempt. Default: the queue's, at the moment of creation.",
    ),
    ask: { default: null },
    show: always(RECORDS, (task) => task.maxRetries),
  },
  timeoutSeconds: {
    names: ["timeout", "timeout"],
    schema: whole(1, 3600, "Seconds the call may take. Default: the queue's, at the moment of creation."),
    ask: { default: null },
    show: always(RECORDS, (task) => task.timeoutSeconds),
  },
  backoff: {
    names: ["retry_backoff", "retryBackoff"],
    schema: oneOf(BACKOFFS, { description: "Default: the queue's, at the moment of creation." }),
    ask: { default: null },
    show: always(RECORDS, (task) => task.backoff),
  },
  retryDelaySeconds: {
    names: ["retry_delay", "retryDelay"],
    schema: whole(
      0,
      3600,
      "Seconds before the first retry. Default: the queue's, at the moment of creation.",
    ),
    ask: { default: null },
    show: always(RECORDS, (task) => task.retryDelaySeconds),
  },
  retryMaxDelaySeconds: {
    names: ["retry_max_delay", "retryMaxDelay"],
    schema: whole(
      1,
      LONGEST_RETRY_DELAY_SECONDS,
      "Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation.",
    ),
    ask: { default: null },
    show: always(RECORDS, (task) => task.retryMaxDelaySeconds ?? RETRY_MAX_DELAY_SECONDS),
  },
  noRetryStatuses: {
    names: ["no_retry_statuses", "noRetryStatuses"],
    schema: statusList(
      "Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.",
    ),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.noRetryStatuses),
  },
  expiresInSeconds: {
    names: ["expires_in", "expiresIn"],
    schema: whole(
      1,
      LONGEST_DELAY_SECONDS,
      "Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not " +
        "extend it, a manual retry restarts it.",
    ),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.expiresInSeconds),
  },
  url: {
    names: ["webhook_url", "targetUrl"],
    schema: [
      text(aboutUrl, "https://example.com/hooks/welcome"),
      text(aboutUrl, "https://api.replicate.com/v1/predictions"),
    ],
    ask: { required: true, default: "" },
    show: always(DIRECT_ANSWER_AND_RECORDS, (task) => task.call.url),
  },
  method: {
    names: ["method", "method"],
    schema: oneOf(METHODS, { default: "POST", description: "Method of the call." }),
    ask: { default: "POST" },
    show: always(DIRECT_ANSWER_AND_RECORDS, (task) => task.call.method),
  },
  headers: {
    names: ["headers", "headers"],
    schema: [
      textMap({ description: aboutHeaders(""), examples: [{ "X-Source": "signup" }] }),
      textMap({
        description: aboutHeaders(", sent as they are"),
        examples: [{ Authorization: "tok_01k9z3mxe5f8hrk3yv5pzq8c2d", "Content-Type": "application/json" }],
      }),
    ],
    ask: { default: {} },
    show: always(DIRECT_ANSWER_AND_RECORDS, (task) => task.call.headers),
  },
  waitForCallback: {
    names: ["wait_for_callback", "waitForCallback"],
    schema: Type.Boolean({
      description:
        "After a 2xx the task waits for its callback instead of completing. Default: true if the call contains " +
        "`{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written.",
    }),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.follow.waitForCallback),
  },
  maxWaitSeconds: {
    names: ["max_wait", "maxWait"],
    schema: whole(
      1,
      LONGEST_WAIT_SECONDS,
      "Seconds that the task may wait for its callback before it fails.",
      MAX_WAIT_DEFAULT_SECONDS,
    ),
    ask: { default: MAX_WAIT_DEFAULT_SECONDS },
    show: sometimes(RECORDS, ({ follow }) => follow.waitForCallback && follow.maxWaitSeconds),
  },
  provider: {
    names: ["provider", "provider"],
    schema: text("Id of a catalog entry: after a 2xx the result is obtained by polling.", "replicate"),
    ask: { default: null },
    show: sometimes(DIRECT_ANSWER_AND_RECORDS, (task) => task.follow.provider),
  },
  pollConfig: {
    names: ["poll_config", "pollConfig"],
    schema: ref(PollConfig),
    ask: { default: null, schema: ref(OwnPollConfig) },
    show: sometimes(DIRECT_ANSWER_AND_RECORDS, (task) => task.follow.pollConfig),
  },
  onCompleteUrl: {
    names: ["on_complete_url", "onCompleteUrl"],
    schema: text(
      "Called once when the task has ended, completed, failed or cancelled, with the record of the task.",
      "https://example.com/hooks/task-ended",
    ),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.onCompleteUrl),
  },
  onFailureUrl: {
    names: ["on_failure_url", "onFailureUrl"],
    schema: text(
      "Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.",
      "https://example.com/hooks/task-failed",
    ),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.onFailureUrl),
  },
  idempotencyKey: {
    names: ["idempotency_key", "idempotencyKey"],
    schema: Type.String({
      pattern: IDEMPOTENCY_KEY_PATTERN,
      description:
        "1 to 255 printable ASCII characters. The same key with the same request within 24 hours returns the first" +
        " task.",
      examples: ["signup-42"],
    }),
    ask: { default: null },
  },
  sign: {
    names: [null, "sign"],
    schema: flag("Sign the call with the team's signing secret (Standard Webhooks)."),
    // The call of a queue task always is.
    ask: { default: (kind) => kind === "queue" },
    show: sometimes(RECORDS, (task) => task.sign),
  },
  dedupe: {
    names: ["dedupe", "dedupe"],
    schema: [ref(QueueDedupe), ref(DirectDedupe)],
    ask: { default: null },
    show: sometimes(RECORDS, shownDedupe),
  },
  tags: {
    names: ["tags", "tags"],
    schema: Type.Array(Type.String({ minLength: 1, maxLength: LABEL_LIMITS.tag }), {
      maxItems: LABEL_LIMITS.tags,
      description: `At most ${LABEL_LIMITS.tags} distinct words of the caller's own.`,
      examples: [["signup", "eu"]],
    }),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.tags),
  },
  metadata: {
    names: ["metadata", "metadata"],
    schema: textMap({
      description: `Strings of the caller's own, at most ${LABEL_LIMITS.entries} and 1 KiB together, keys included.`,
      examples: [{ order: "4711" }],
    }),
    ask: { default: null },
    show: sometimes(RECORDS, (task) => task.metadata),
  },
  flow: {
    names: ["flow", "flow"],
    schema: text("The key of the flow that limits it, as stored.", "customer-42"),
    ask: { default: null, schema: AskedFlow },
    show: sometimes(RECORDS, (task) => task.flow),
  },
  simulate: {
    names: ["simulate", "simulate"],
    schema: [ref(QueueSimulation), ref(DirectSimulation)],
    ask: { default: null },
  },
  result: {
    names: ["result", "result"],
    schema: ref(TaskResult),
    show: sometimes(["record"], (task) => task.result),
  },
  listedResult: {
    names: ["result", "result"],
    schema: ref(TaskResultSummary),
    show: moving(sometimes(["list"], ({ result }: TaskMoment) => result)),
  },
  error: {
    names: ["error", "error"],
    schema: Type.String({ description: "Why it failed, for people." }),
    show: moving(sometimes(RECORDS, ({ error }: TaskMoment) => error)),
  },
  failureReason: {
    names: ["failure_reason", "failureReason"],
    schema: text("Why it failed, for machines.", "retries_exhausted"),
    show: moving(sometimes(RECORDS, ({ failureReason }: TaskMoment) => failureReason)),
  },
  sandbox: {
    names: ["sandbox", "sandbox"],
    schema: Type.Boolean({ description: "True for a task of a test key: it is never called." }),
    show: sometimes(RECORDS, (task) => task.sandbox),
  },
  schedule: {
    names: ["schedule", "schedule"],
    schema: text("Id of the schedule that made it, if one did.", "sch_01k9z3mxe5f8hrk3yv5pzq8c2d"),
    show: sometimes(RECORDS, ({ scheduleId }) => scheduleId && formatId("sch", scheduleId)),
  },
  scheduledFor: {
    names: ["scheduled_for", "scheduledFor"],
    schema: instant(
      "The time of its schedule that it was created for. Not for a schedule that was run manually.",
    ),
    show: sometimes(RECORDS, (task) => task.scheduledFor),
  },
  dismissedAt: {
    names: ["dismissed_at", "dismissedAt"],
    schema: instant("When the failed task was dismissed: nobody needs to look at it any more."),
    show: sometimes(RECORDS, (task) => task.dismissedAt),
  },
  attempts: {
    names: ["attempts", "attempts"],
    schema: [Type.Array(ref(Attempt)), Type.Array(ref(DirectAttempt))],
    show: always(["record"], shownAttempts),
  },
  attemptCount: {
    names: ["attempt_count", "attemptCount"],
    schema: Type.Integer({
      description: "The number of attempts. In lists, which do not have the attempts.",
    }),
    // How many it had been when something happened to it is not known.
    show: { in: ["list"], of: (task) => task.attemptCount, ofMoment: () => undefined, optional: true },
  },
  polls: {
    names: ["polls", "polls"],
    schema: [ref(Polls), ref(DirectPolls)],
    show: sometimes(["record"], shownPolls),
  },
  notifications: {
    names: ["notifications", "notifications"],
    schema: [Type.Array(ref(NotificationState)), Type.Array(ref(DirectNotificationState))],
    show: sometimes(["record"], shownNotifications),
  },
  retries: {
    names: ["retries", "retries"],
    schema: Type.Integer({ description: "The number of manual retries, if any." }),
    show: sometimes(RECORDS, (task) => task.retries > 0 && task.retries),
  },
  retriedWith: {
    names: ["retried_with", "retriedWith"],
    schema: Type.Array(
      Type.Object({
        at: instant("When the task was retried."),
        fields: Type.Array(Type.String(), { examples: [["payload", "headers"]] }),
      }),
      {
        description:
          "Manual retries that replaced parts of the call, and which parts. The earlier values are not kept.",
      },
    ),
    show: sometimes(["record"], shownCorrections),
  },
  deduplicated: {
    names: ["deduplicated", "deduplicated"],
    schema: Type.Boolean({
      description:
        "True if an earlier request with the same deduplication key created the task: this one created none.",
    }),
    show: sometimes(["queue answer", "beside"], (task) => task.joined === "deduplicated"),
  },
  replaced: {
    names: ["replaced", "replaced"],
    schema: Type.Boolean({
      description:
        "True if this request took the place of what an earlier one with the same deduplication key said.",
    }),
    show: sometimes(["queue answer", "beside"], (task) => task.joined === "replaced"),
  },
  callbackId: {
    names: ["callback_id", "callbackId"],
    schema: [
      Type.String({
        description: `For a task that waits or is polled. ${aboutCallback}`,
      }),
      Type.String({ description: aboutCallback }),
    ],
    show: sometimes(["queue answer", "beside"], (task) => task.callback?.id),
  },
  callbackUrl: {
    names: ["callback_url", "callbackUrl"],
    schema: Type.String({ description: "Where a third party may report the result." }),
    show: sometimes(["queue answer", "beside"], (task) => task.callback?.url),
  },
} satisfies Record<AskedField, Field & Required<Pick<Field, "ask">>> & Record<string, Field>;

function shownBody({ shape, call, bodyIsJson }: ViewedTask): RawJson | string | undefined {
  if (shape === "queue") return new RawJson(call.body ?? "{}");
  return bodyIsJson && call.body != null ? new RawJson(call.body) : (call.body ?? undefined);
}

function shownAttempts({ shape, attempts = [] }: ViewedTask): RawJson {
  return new RawJson(`[${attempts.map(writeAttempt[shape]).join()}]`);
}

function shownPolls({ shape, polls }: ViewedTask): RawJson | null {
  return polls ? new RawJson(writePolls[shape](polls)) : null;
}

function shownNotifications({ shape, notifications }: ViewedTask): RawJson | null {
  return notifications ? new RawJson(`[${notifications.map(writeNotification[shape]).join()}]`) : null;
}

function shownDedupe({ shape, dedupe }: ViewedTask): object | null {
  return dedupe && dedupeView(dedupe, shape);
}

function shownCorrections({ shape, retriedWith }: ViewedTask): object | null {
  if (!retriedWith) return null;
  const names = CORRECTION_NAMES[shape];
  return retriedWith.map(({ at, fields }) => ({ at, fields: fields.map((field) => names[field]) }));
}

/** As it was asked for, or as the exact time came to: after the first attempt there is none. */
function delayOf({ attempts, attemptCount = 0, createdAt, runAt }: ViewedTask): number {
  if ((attempts?.length ?? attemptCount) > 0) return 0;
  return Math.max(0, Math.ceil((runAt.getTime() - createdAt.getTime()) / 1000));
}
