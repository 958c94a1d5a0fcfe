import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { Problem } from "../domain/problem.ts";
import { formatId } from "../domain/public-id.ts";
import type { TaskRequest } from "../domain/task-copies.ts";
import type { CallKind, RecordedCall, Sent, TraceCalls } from "../engine/outgoing.ts";
import type { TaskService } from "../service/tasks/task-service.ts";

type Headers = Readonly<Record<string, string>>;

const TRACEPARENT = "traceparent";

/** A schedule with the task that it creates. */
interface FiredSchedule {
  readonly id: string;
  readonly task: { readonly request: TaskRequest };
}

/**
 * The same firing, with a span that the task it makes refers to. A firing resolves with its task, with the reason why there is
 * none, or with null where none was to be made.
 */
export type TraceFirings = <
  Due extends FiredSchedule,
  More extends unknown[],
  Fired extends { readonly id: string } | Error | null,
>(
  fire: (schedule: Due, ...more: More) => Promise<Fired>,
) => (schedule: Due, ...more: More) => Promise<Fired>;

/** Creates spans of task activity. Without traces none of this exists, so no code checks whether they are on. */
export interface Tracing {
  /** Runs a request under the trace of its headers. */
  readonly follow: (headers: Readonly<Record<string, unknown>>, next: () => void) => void;
  /** The same service with a span per creation, whose context is kept in the headers of the call. */
  readonly ofTasks: (tasks: TaskService) => TaskService;
  /** A span per firing on this node that creates a task, which keeps its context, or is refused. */
  readonly ofFirings: TraceFirings;
  /** The same outgoing calls with a span each, linked to the creation and sent as `traceparent`. */
  readonly ofCalls: TraceCalls;
}

export function createTracing(tracer: Tracer): Tracing {
  async function create<T>(
    name: string,
    attributes: Readonly<Record<string, string | number>>,
    work: (place: Headers, span: Span) => Promise<T>,
  ): Promise<T> {
    return tracer.startActiveSpan(name, { kind: SpanKind.PRODUCER, attributes }, async (span) => {
      try {
        const made = await work(placeOf(), span);
        // A span that is not ended is not sent: nothing was created.
        if (made !== null) span.end();
        return made;
      } catch (error) {
        markFailed(span, error).end();
        throw error;
      }
    });
  }

  return {
    follow: (headers, next) => context.with(propagation.extract(ROOT_CONTEXT, headers), next),
    ofTasks: (tasks) => ({
      ...tasks,
      create: (principal, request) =>
        create("create task", { "bellhop.queue": request.queue }, async (place, span) => {
          const created = await tasks.create(principal, placed(request, place));
          span.setAttribute("bellhop.task.id", created.id);
          return created;
        }),
      createMany: (principal, items, together) =>
        create("create tasks", { "bellhop.tasks": items.length }, (place) => {
          const all = items.map((item) => (item instanceof Problem ? item : placed(item, place)));
          return tasks.createMany(principal, all, together);
        }),
    }),
    ofFirings:
      (fire) =>
      (schedule, ...more) =>
        create("fire schedule", firingOf(schedule), async (place, span) => {
          const request = placed(schedule.task.request, place);
          const fired = await fire({ ...schedule, task: { ...schedule.task, request } }, ...more);
          if (fired instanceof Error) markFailed(span, fired);
          else if (fired !== null) span.setAttribute("bellhop.task.id", fired.id);
          return fired;
        }),
    ofCalls: (kind, outgoing) => ({
      async send(recorded) {
        const span = tracer.startSpan(
          kind,
          { kind: SpanKind.CLIENT, attributes: attributesOf(kind, recorded), links: linksOf(recorded) },
          ROOT_CONTEXT,
        );
        try {
          const place = context.with(trace.setSpan(ROOT_CONTEXT, span), placeOf);
          const call = { ...recorded.call, headers: { ...withoutPlace(recorded.call.headers), ...place } };
          const sent = await outgoing.send({ ...recorded, call });
          span.setAttributes(resultOf(sent));
          if (isFailure(sent)) span.setStatus({ code: SpanStatusCode.ERROR });
          return sent;
        } finally {
          span.end();
        }
      },
    }),
  };
}

function markFailed(span: Span, error: unknown): Span {
  const type = error instanceof Problem ? error.code : "error";
  return span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

/** The active span, as headers. */
function placeOf(): Headers {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/** A `traceparent` of the caller is the caller's trace, and is linked unchanged. */
function placed(request: TaskRequest, place: Headers): TaskRequest {
  if (findPlace(request.call.headers) !== undefined) return request;
  return { ...request, call: { ...request.call, headers: { ...request.call.headers, ...place } } };
}

function findPlace(headers: Headers): string | undefined {
  return Object.keys(headers).find((name) => name.toLowerCase() === TRACEPARENT);
}

function withoutPlace(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(traceparent|tracestate)$/i.test(name)),
  );
}

/** For a poll, the headers of its task's first call are beside it. */
function linksOf({ call, wipe }: RecordedCall) {
  const place = [call.headers, wipe?.headers ?? {}].flatMap((headers) => {
    const name = findPlace(headers);
    return name === undefined ? [] : [headers[name]];
  })[0];
  const found = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { [TRACEPARENT]: place }));
  return found === undefined ? [] : [{ context: found }];
}

function firingOf({ id, task }: FiredSchedule): Record<string, string> {
  return { "bellhop.schedule.id": formatId("sch", id), "bellhop.queue": task.request.queue };
}

/** Only the host of the target: a path or a query may contain a secret. */
function attributesOf(
  kind: CallKind,
  { taskId, messageId, call, headers }: RecordedCall,
): Record<string, string> {
  const host = URL.canParse(call.url) ? new URL(call.url).hostname : "";
  return {
    // A delivery has a row of its own, and the receiver knows it by the name that it is recorded with.
    ...(kind === "delivery" ? { "bellhop.delivery.id": messageId } : { "bellhop.task.id": taskId }),
    "http.request.method": call.method,
    "server.address": host,
    ...(headers["bellhop-attempt"] !== undefined && { "bellhop.attempt": headers["bellhop-attempt"] }),
    ...(headers["bellhop-queue"] !== undefined && { "bellhop.queue": headers["bellhop-queue"] }),
  };
}

function resultOf(sent: Sent): Record<string, string | number> {
  if (sent.kind === "refused") return { "error.type": sent.reason };
  return sent.kind === "response"
    ? { "http.response.status_code": sent.statusCode }
    : { "error.type": sent.code };
}

function isFailure(sent: Sent): boolean {
  return sent.kind !== "response" || sent.statusCode >= 400;
}
