import type { SystemService } from "../../service/operator/system-service.ts";
import type { EventDelay } from "../../service/tasks/event-delay.ts";
import { access } from "../http/access.ts";
import { callerOf } from "../http/auth-hook.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { SystemState } from "../schemas/system.ts";

export function registerSystemRoute(app: Api, system: SystemService): void {
  app.get(
    "/system",
    {
      config: { ...access("team:read"), ...costs("point", { rows: 100, bytes: SMALL }) },
      schema: {
        operationId: "getSystem",
        tags: ["Health"],
        summary: "Nodes and database",
        description:
          "The nodes and their state. For the operator's own team; for other teams the route does not exist.",
        response: { 200: ref(SystemState), ...refusals("not_found") },
      },
    },
    async (request): Promise<SystemState> => {
      const { nodes, database, eventDelay } = await system.read(callerOf(request));
      return {
        nodes: nodes.map(({ startedAt, lagMs, clockOffsetMs, loopLagMs, ...node }) => ({
          ...node,
          startedAt: startedAt.toISOString(),
          lagMs: Math.max(0, Math.round(lagMs)),
          clockOffsetMs: Math.round(clockOffsetMs),
          loopLagMs: Math.round(loopLagMs),
        })),
        database,
        events: describeDelay(eventDelay),
      };
    },
  );
}

function describeDelay(delay: EventDelay | null): SystemState["events"] {
  if (delay === null) return { behindSeconds: 0, holder: null };
  const { behindMs, holder } = delay;
  return {
    behindSeconds: Math.round(behindMs / 100) / 10,
    holder: { ...holder, since: holder.since.toISOString() },
  };
}
