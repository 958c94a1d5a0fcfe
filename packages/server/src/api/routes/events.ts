import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { invalid, mustBe } from "../../domain/complaint.ts";
import { EVENT_HOURS, EVENT_TYPES, type EventFilter, type EventType } from "../../domain/event.ts";
import type { EventSink } from "../../domain/event-sink.ts";
import type { Principal } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import { QUEUE_READ_PATTERN } from "../../domain/queue.ts";
import { LABEL_LIMITS } from "../../domain/tag-rules.ts";
import type { AuthService } from "../../service/access/auth-service.ts";
import type { EventFeed } from "../../service/tasks/event-feed.ts";
import { type Access, access, requireAccess } from "../http/access.ts";
import { acceptedCredential, callerOf } from "../http/auth-hook.ts";
import { costs, MIB } from "../http/cost.ts";
import { createEventBody } from "../http/event-stream.ts";
import type { Api } from "../http/schema-types.ts";
import { refusals } from "../schemas/error.ts";
import { heartbeatText } from "../tasks/event-view.ts";

/** Often enough for the proxies that close a connection on which nothing moves. */
const HEARTBEAT_MS = 15_000;
/** Checks of the credential in that time: after its end no event is sent for more than 5 s. */
const LOOKS = 3;
const LONGEST_ID = 128;

const EventQuery = Type.Object(
  {
    queue: Type.Optional(
      Type.String({ pattern: QUEUE_READ_PATTERN, description: "Only events of this queue and its tasks." }),
    ),
    tag: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LABEL_LIMITS.tag,
        description: "Only events of tasks that have this tag.",
      }),
    ),
    types: Type.Optional(
      Type.String({
        description: "Only events of these kinds, separated by commas.",
        examples: ["task.completed,task.failed"],
      }),
    ),
  },
  { additionalProperties: false },
);

const EventHeaders = Type.Object({
  "last-event-id": Type.Optional(
    Type.String({
      description:
        "The last `id` that was read: the stream continues after it. Browsers send it automatically.",
    }),
  ),
});

const READ: Access = { scope: "tasks:read", role: "viewer" };

export function registerEventRoutes(
  app: Api,
  deps: {
    readonly events: EventFeed;
    readonly auth: Pick<AuthService, "authenticate">;
    readonly heartbeatMs?: number | undefined;
  },
): void {
  const { events, auth, heartbeatMs = HEARTBEAT_MS } = deps;
  const open = new Set<EventSink>();
  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
    for (const sink of open) sink.end();
  });

  /** The credential is still valid and unchanged. An unreachable database ends no stream. */
  async function mayGoOn(request: FastifyRequest, { teamId, environment }: Principal): Promise<boolean> {
    try {
      const principal = await auth.authenticate(acceptedCredential(request), request.ip);
      requireAccess(principal, READ);
      return principal.teamId === teamId && principal.environment === environment;
    } catch (error) {
      return !(error instanceof Problem) || error.status >= 500;
    }
  }

  app.get(
    "/events",
    {
      // An answer without a body has no end to wait for.
      exposeHeadRoute: false,
      // It is answered for as long as it is read.
      config: { ...access(READ.scope), isPatient: true, ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "streamEvents",
        tags: ["Events"],
        summary: "Follow events",
        description:
          "Server-sent events of the team, until either side closes the connection: `id`, `event` (the kind) and `data`. The " +
          "first is `ready`: a reader that is cut off before the next one resumes after its `id`. The others have in `data` " +
          "`{ task }` with the task as in a list, or `{ queue }`. Of a task that was deleted since, there are `id`, `queue` " +
          `and \`status\` alone. With \`Last-Event-ID\` it goes on after that event, for ${EVENT_HOURS} hours; after ` +
          "that, or if it cannot be known that nothing is missing, it begins with one event `reset`. A comment every 15 " +
          "seconds. A reader that does not keep up is cut off, and may resume. Test keys are told of the sandbox, all " +
          "others of everything else. Events of queues need the scope `queues:read` besides.",
        querystring: EventQuery,
        headers: EventHeaders,
        response: {
          200: {
            description: `Events, each of one of these kinds: ${EVENT_TYPES.map((type) => `\`${type}\``).join(", ")}; or \`ready\` or \`reset\`.`,
            content: { "text/event-stream": { schema: { type: "string" } } },
          },
          ...refusals("streams_full", "too_many_streams"),
        },
      },
    },
    async (request, reply) => {
      if (isStopping) throw new Problem("stopping");
      const principal = callerOf(request);
      const filter = readEventFilter(request.query, principal);
      const lastId = request.headers["last-event-id"]?.slice(0, LONGEST_ID) ?? null;
      const { body, sink } = createEventBody(reply.raw);
      const stream = await events.open(principal, filter, lastId, sink);
      open.add(sink);
      let looks = 0;
      const heartbeat = setInterval(async () => {
        looks += 1;
        if (!(await mayGoOn(request, principal))) sink.end();
        // No keepalive for a reader that reads nothing: its connection is closed after a minute.
        else if (looks % LOOKS === 0 && sink.waitingBytes === 0) sink.write(heartbeatText(stream.lastId));
      }, heartbeatMs / LOOKS);
      body.once("close", () => {
        clearInterval(heartbeat);
        open.delete(sink);
        stream.close();
      });
      if (isStopping) sink.end();
      return reply
        .headers({
          "content-type": "text/event-stream; charset=utf-8",
          // Buffering proxies would hold the events back.
          "x-accel-buffering": "no",
          connection: "close",
        })
        .send(body);
    },
  );
}

function readEventFilter(query: Static<typeof EventQuery>, principal: Principal): EventFilter {
  const { queue = null, tag = null } = query;
  const mayReadQueues = principal.scopes?.has("queues:read") !== false;
  const allowed = EVENT_TYPES.filter((type) => mayReadQueues || type.startsWith("task."));
  const asked = query.types === undefined ? null : readTypes(query.types.split(","), "types");
  const types =
    asked === null ? (mayReadQueues ? null : allowed) : asked.filter((type) => allowed.includes(type));
  return { sandbox: principal.environment === "test", types, queue, tag };
}

/** Refuses what is no kind of event. */
export function readTypes(words: readonly string[], field: string): EventType[] {
  return words.map((word) => {
    const known = EVENT_TYPES.find((type) => type === word.trim());
    if (known === undefined) throw invalid([mustBe(field, `of these: ${EVENT_TYPES.join(", ")}`)]);
    return known;
  });
}
