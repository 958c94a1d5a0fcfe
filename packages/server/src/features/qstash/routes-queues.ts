import { access, accessForTestKeys } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB, SMALL } from "../../api/http/cost.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { invalid, mustBe } from "../../domain/complaint.ts";
import type { QueueWithStats } from "../../domain/queue.ts";
import type { JsonGate } from "../../json/gate.ts";
import { MESSAGE_QUEUE } from "./domain-request.ts";
import { HIDDEN, objectIn, parameterIn, wholeList } from "./routes-http.ts";
import { requireQueueName } from "./routes-publish.ts";
import type { MessageQueueService } from "./service-queues.ts";

export function registerQueueRoutes(
  app: Api,
  { messageQueues, json }: { readonly messageQueues: MessageQueueService; readonly json: JsonGate },
): void {
  const read = {
    ...HIDDEN,
    config: { ...access("queues:read"), ...costs("point", { rows: 1, bytes: SMALL }) },
  };
  const write = {
    ...HIDDEN,
    config: { ...access("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
  };

  app.post(
    "/queues",
    {
      ...HIDDEN,
      config: { ...accessForTestKeys("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
    },
    async (request) => {
      const {
        queueName,
        parallelism = 1,
        paused = false,
      } = await objectIn(request, json, ["queueName", "parallelism", "paused"]);
      if (typeof queueName !== "string") throw invalid([mustBe("queueName", "a name")]);
      if (
        typeof parallelism !== "number" ||
        !Number.isInteger(parallelism) ||
        parallelism < 1 ||
        parallelism > 1000
      )
        throw invalid([mustBe("parallelism", "a whole number from 1 to 1000")]);
      if (typeof paused !== "boolean") throw invalid([mustBe("paused", "true or false")]);
      const name = requireQueueName(queueName);
      await messageQueues.upsert(requesterOf(request), name, parallelism, paused);
      return queueView(await messageQueues.get(callerOf(request), name));
    },
  );
  const list = { ...read, config: { ...read.config, ...costs("page", { rows: 1_001, bytes: MIB }) } };
  app.get("/queues", list, async (request) => {
    const queues = wholeList(await messageQueues.list(callerOf(request)), queueView, "/v1/queues");
    return queues.filter(({ name }) => name !== MESSAGE_QUEUE);
  });
  app.get("/queues/:queueName", read, async (request) =>
    queueView(
      await messageQueues.get(callerOf(request), requireQueueName(parameterIn(request, "queueName"))),
    ),
  );
  const removal = {
    ...write,
    config: { ...write.config, ...costs("fan-out", { rows: 1_000_000, bytes: SMALL }) },
  };
  app.delete("/queues/:queueName", removal, async (request) => {
    await messageQueues.remove(requesterOf(request), requireQueueName(parameterIn(request, "queueName")));
    return {};
  });
  for (const action of ["pause", "resume"] as const)
    app.post(`/queues/:queueName/${action}`, write, async (request) => {
      const name = requireQueueName(parameterIn(request, "queueName"));
      await messageQueues.setPaused(requesterOf(request), name, action === "pause");
      return queueView(await messageQueues.get(callerOf(request), name));
    });
}

function queueView({ name, concurrency, paused, stats, createdAt, updatedAt }: QueueWithStats) {
  return {
    name,
    parallelism: concurrency,
    paused,
    lag: stats.pending + stats.active + stats.waiting + stats.polling,
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
  };
}
