import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, SMALL } from "../../api/http/cost.ts";
import type { Api } from "../../api/http/schema-types.ts";
import type { Reach } from "../../domain/reach.ts";
import type { JsonGate } from "../../json/gate.ts";
import type { LoopShare } from "../../service/access/loop-share.ts";
import type { MessageKeyService } from "../../service/vault/message-key-service.ts";
import { registerFlowControlRoutes } from "./routes-flows.ts";
import { registerGroupRoutes } from "./routes-groups.ts";
import { acceptBytes, answerQstashError, HIDDEN } from "./routes-http.ts";
import { registerMessageRoutes } from "./routes-messages.ts";
import { registerPublishRoutes } from "./routes-publish.ts";
import { registerQueueRoutes } from "./routes-queues.ts";
import { registerScheduleRoutes } from "./routes-schedules.ts";
import type { FlowControlService } from "./service-flows.ts";
import type { UrlGroupService } from "./service-groups.ts";
import type { MessageService } from "./service-messages.ts";
import type { PublishService } from "./service-publish.ts";
import type { MessageQueueService } from "./service-queues.ts";
import type { RetryMessage } from "./service-retries.ts";
import type { MessageScheduleService } from "./service-schedules.ts";

export interface QstashDeps {
  readonly publish: PublishService;
  readonly messages: MessageService;
  readonly messageQueues: MessageQueueService;
  readonly groups: UrlGroupService;
  readonly messageSchedules: MessageScheduleService;
  readonly retry: RetryMessage;
  readonly keys: MessageKeyService;
  readonly flowControl: FlowControlService;
  readonly callsInFlight: (reach: Reach) => Promise<number>;
  readonly json: JsonGate;
  readonly loop: Pick<LoopShare, "spent">;
  readonly now: () => Date;
}

export function registerQstashRoutes(app: Api, deps: QstashDeps): void {
  acceptBytes(app, deps.loop);
  app.setErrorHandler(answerQstashError);
  registerPublishRoutes(app, deps);
  registerMessageRoutes(app, deps);
  registerQueueRoutes(app, deps);
  registerGroupRoutes(app, deps);
  registerScheduleRoutes(app, deps);
  registerFlowControlRoutes(app, deps);
  registerParallelismRoute(app, deps.callsInFlight);
  registerKeyRoutes(app, deps.keys);
}

/** The team's budget of calls in flight; 0 is no limit. */
function registerParallelismRoute(app: Api, callsInFlight: QstashDeps["callsInFlight"]): void {
  app.get(
    "/globalParallelism",
    { ...HIDDEN, config: { ...access("queues:read"), ...costs("point", { rows: 1, bytes: SMALL }) } },
    async (request) => {
      const principal = callerOf(request);
      return {
        parallelismMax: principal.limits.callsInFlight ?? 0,
        parallelismCount: await callsInFlight(principal),
      };
    },
  );
}

function registerKeyRoutes(app: Api, keys: MessageKeyService): void {
  app.get(
    "/keys",
    {
      ...HIDDEN,
      config: { ...access("webhooks:read", "admin"), ...costs("point", { rows: 2, bytes: SMALL }) },
    },
    (request) => keys.get(callerOf(request)),
  );
  app.post(
    "/keys/rotate",
    {
      ...HIDDEN,
      config: { ...access("webhooks:write", "admin"), ...costs("write", { rows: 2, bytes: SMALL }) },
    },
    (request) => keys.rotate(requesterOf(request)),
  );
}
