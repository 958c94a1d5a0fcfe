import { isUtf8 } from "node:buffer";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import type { RefuseUrl } from "../../domain/call.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { CreatedTask } from "../../domain/task.ts";
import type { TaskRequest } from "../../domain/task-request.ts";
import { SHORT_TEXT } from "../../json/gate.ts";
import type { AuthService } from "../../service/access/auth-service.ts";
import type { LoopShare } from "../../service/access/loop-share.ts";
import type { RequestLimits } from "../../service/access/request-limits.ts";
import type { Allowance } from "../../service/access/team-meter.ts";
import type { TaskService } from "../../service/tasks/task-service.ts";
import { mayHoldNulls } from "../http/absent-fields.ts";
import { type Access, requireAccess } from "../http/access.ts";
import { ANSWER_MS, type Deadlines } from "../http/answer-deadline.ts";
import { allowanceHeaders, headerCredential } from "../http/auth-hook.ts";
import { handOver } from "../http/handover.ts";
import { manyFieldsIn } from "../http/json-body.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../http/request-id.ts";
import { logRequestLine } from "../http/request-log.ts";
import { prepareTaskBody } from "../tasks/task-body.ts";
import type { TaskBody } from "../tasks/task-models.ts";
import { readTask } from "../tasks/task-reader.ts";
import { createdText } from "../tasks/task-view.ts";

export const SHORT_ROUTE = "/v1/tasks";
const JSON_TYPE = /^application\/json(; ?charset=utf-8)?$/i;

/** Of POST /v1/tasks. */
export const CREATE_ACCESS: Access = { scope: "tasks:write", role: "member" };

export interface ShortCreateDeps {
  readonly tasks: Pick<TaskService, "create">;
  readonly refuseUrl: RefuseUrl;
  readonly auth: Pick<AuthService, "recall">;
  readonly limits: RequestLimits;
  readonly loop: Pick<LoopShare, "spent"> | undefined;
  readonly deadlines: Deadlines | undefined;
  readonly log: FastifyBaseLogger;
  readonly onAnswer: ((method: string, route: string, status: number, ms: number) => void) | undefined;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyLimitBytes: number;
  readonly isProxy: (address: string) => boolean;
}

export interface ShortCreate {
  /** Handles a usual request to create a task, and passes every other one to `general`. */
  handle(request: IncomingMessage, response: ServerResponse, general: RequestListener): void;
  /** Takes the compiled schemas from a request that Fastify handles. */
  learn(request: FastifyRequest): void;
  /** From now on every request is left to Fastify. */
  stop(): void;
}

type Validate = NonNullable<ReturnType<FastifyRequest["getValidationFunction"]>>;

/** One request on the short path. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly general: RequestListener;
  readonly beganMs: number;
  readonly principal: Principal;
  readonly allowance: Allowance;
}

/**
 * The short path of POST /v1/tasks. A usual request goes without Fastify's request, reply and hooks: a known credential within its limits, a short JSON body that breaks no rule.
 * The short path answers successes alone. Every other request, and every refusal, goes through Fastify, which answers it as if
 * there were no short path: nothing is decided in two places.
 */
export function createShortCreate(deps: ShortCreateDeps): ShortCreate {
  const { auth, limits, isProxy } = deps;
  const mostBytes = Math.min(SHORT_TEXT, deps.bodyLimitBytes);
  const everyHeader = Object.entries({ ...deps.headers, "cache-control": "no-store" }).flat();
  let validateBody: Validate | null = null;
  let validateHeaders: Validate | null = null;
  let isStopped = false;

  function isUsual({ method, url, headers, socket }: IncomingMessage): boolean {
    return (
      method === "POST" &&
      url === SHORT_ROUTE &&
      validateBody !== null &&
      validateHeaders !== null &&
      !isStopped &&
      Number(headers["content-length"]) <= mostBytes &&
      headers["content-encoding"] === undefined &&
      JSON_TYPE.test(headers["content-type"] ?? "") &&
      validateHeaders(headers) === true &&
      // Fastify warns of a proxy that is not trusted.
      (headers["x-forwarded-for"] === undefined || isProxy(socket.remoteAddress ?? ""))
    );
  }

  function handle(request: IncomingMessage, response: ServerResponse, general: RequestListener): void {
    const credential = isUsual(request) ? headerCredential(request) : undefined;
    const principal = credential === undefined ? null : auth.recall(credential);
    if (principal === null) {
      general(request, response);
      return;
    }
    const counted = limits.count(principal);
    if (counted instanceof Promise || !mayCreate(principal, counted)) {
      handOver(request, { counted });
      general(request, response);
      return;
    }
    const beganMs = performance.now();
    readBody({ request, response, general, beganMs, principal, allowance: counted });
  }

  function mayCreate(principal: Principal, { retryAfterSeconds }: Allowance): boolean {
    if (retryAfterSeconds !== null) return false;
    try {
      requireAccess(principal, CREATE_ACCESS);
      return true;
    } catch {
      return false;
    }
  }

  function readBody(visit: Visit): void {
    const { request } = visit;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const [first = Buffer.alloc(0)] = chunks;
      create(visit, chunks.length < 2 ? first : Buffer.concat(chunks));
    });
    request.once("error", (error) => leave(visit, { error }));
  }

  function create(visit: Visit, body: Buffer): void {
    const { principal } = visit;
    const bodyAtMs = performance.now();
    const wanted = isStopped ? null : readUsual(visit.request, body);
    if (wanted === null) {
      leave(visit, { body });
      return;
    }
    let isAnswered = false;
    const deadline = deps.deadlines?.begin(ANSWER_MS, () => refuse(new Problem("database_away")));
    function end(): boolean {
      if (isAnswered) return false;
      isAnswered = true;
      if (deadline !== undefined) deps.deadlines?.end(deadline);
      return true;
    }
    function refuse(error: unknown): void {
      if (end()) leave(visit, { error });
    }
    deps.tasks.create(principal, wanted).then((task) => {
      if (end()) answer(visit, task);
    }, refuse);
    deps.loop?.spent(principal.teamId, "request", performance.now() - bodyAtMs);
  }

  /** The task that the body asks for; null if Fastify has to look at it. */
  function readUsual({ headers }: IncomingMessage, bytes: Buffer): TaskRequest | null {
    if (!isUtf8(bytes)) return null;
    const text = bytes.toString("utf8");
    try {
      const body: unknown = JSON.parse(text);
      if (manyFieldsIn(body) !== null || prepareTaskBody(body, mayHoldNulls({ bodyText: text })) !== null)
        return null;
      if (validateBody?.(body) !== true) return null;
      const { "idempotency-key": key } = headers;
      return readTask(body as TaskBody, {
        text,
        extracted: null,
        idempotencyKey: typeof key === "string" ? key : undefined,
        now: new Date(),
        refuseUrl: deps.refuseUrl,
      });
    } catch {
      return null;
    }
  }

  function leave(
    { request, response, general, allowance }: Visit,
    rest: { body: Buffer } | { error: unknown },
  ) {
    handOver(request, { counted: allowance, ...rest });
    general(request, response);
  }

  function answer({ request, response, beganMs, principal, allowance }: Visit, task: CreatedTask): void {
    const text = createdText(task);
    const status = task.replayed ? 200 : 201;
    const requestId = requestIdOf(request);
    response.writeHead(status, [
      REQUEST_ID_HEADER,
      requestId,
      ...everyHeader,
      ...allowanceHeaders(allowance).flat(),
      ...(task.replayed ? ["idempotent-replayed", "true"] : []),
      "content-type",
      "application/json; charset=utf-8",
      "content-length",
      Buffer.byteLength(text),
    ]);
    response.end(text);
    const ms = performance.now() - beganMs;
    logRequestLine(deps.log, {
      requestId,
      method: "POST",
      route: SHORT_ROUTE,
      status,
      ms,
      team: principal.team,
    });
    deps.onAnswer?.("POST", SHORT_ROUTE, status, ms);
  }

  return {
    handle,
    learn(request) {
      validateBody ??= request.getValidationFunction("body") ?? null;
      validateHeaders ??= request.getValidationFunction("headers") ?? null;
    },
    stop() {
      isStopped = true;
    },
  };
}
