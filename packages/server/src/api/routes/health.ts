import type { HealthService } from "../../service/health-service.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { UNCOUNTED } from "../http/visit-limit.ts";
import { serverRefusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { Alive, Readiness } from "../schemas/health.ts";

const tags = ["Health"];

/** For load balancers and orchestrators: no credential, and nothing in the answers that a stranger may not know. */
export function registerHealthRoutes(app: Api, health: HealthService): void {
  app.get(
    "/livez",
    {
      config: { ...UNCOUNTED, ...costs("point", { rows: 0, bytes: SMALL }) },
      schema: {
        operationId: "getLiveness",
        tags,
        summary: "Is the process alive?",
        description: "200 as long as the process answers, regardless of its database.",
        security: [],
        response: { 200: Alive, ...serverRefusals },
      },
    },
    async () => ({ status: "ok" }),
  );

  for (const [path, operationId] of [
    ["/readyz", "getReadiness"],
    ["/healthz", "getHealth"],
  ] as const) {
    app.get(
      path,
      {
        config: { ...UNCOUNTED, ...costs("point", { rows: 1, bytes: SMALL }) },
        schema: {
          operationId,
          tags,
          summary: "Can it accept and execute tasks?",
          description:
            "200 while its database answers and its dispatcher works, otherwise 503 with the failing checks.",
          security: [],
          response: { 200: ref(Readiness), 503: ref(Readiness), ...serverRefusals },
        },
      },
      async (_request, reply) => {
        const { ready, checks } = await health.check();
        reply.code(ready ? 200 : 503);
        return { status: ready ? "ok" : "unavailable", checks };
      },
    );
  }
}
