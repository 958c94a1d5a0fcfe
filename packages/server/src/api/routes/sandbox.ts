import { Type } from "typebox";
import { LONGEST_DELAY_SECONDS } from "../../domain/task-request.ts";
import type { SandboxService } from "../../service/tasks/sandbox-service.ts";
import { access } from "../http/access.ts";
import { requesterOf } from "../http/auth-hook.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { model, ref } from "../schemas/field.ts";

const AdvanceSandbox = model(
  "AdvanceSandbox",
  "How much time is to pass.",
  {
    seconds: Type.Integer({
      minimum: 1,
      maximum: LONGEST_DELAY_SECONDS,
      description: "Seconds that pass for the sandbox of the team.",
    }),
  },
  { additionalProperties: false, examples: [{ seconds: 3600 }] },
);

const SandboxAdvanced = model(
  "SandboxAdvanced",
  "How much time has passed.",
  {
    advanced: Type.Integer({
      description: "Seconds that have passed: fewer than asked for where very much happens within them.",
    }),
  },
  { examples: [{ advanced: 3600 }] },
);

export function registerSandboxRoute(app: Api, sandbox: SandboxService): void {
  app.post(
    "/sandbox/advance",
    {
      config: { ...access("tasks:write"), isPatient: true },
      schema: {
        operationId: "advanceSandbox",
        tags: ["Tasks"],
        summary: "Let time pass in the sandbox",
        description:
          "Answers once all has happened that falls into this time: delays and retries of simulated tasks, callbacks, " +
          "and firings of the schedules of test keys. Only with a test key.",
        body: ref(AdvanceSandbox),
        response: { 200: ref(SandboxAdvanced), ...refusals("live_refused", ...BODY_REFUSALS) },
      },
    },
    async (request) => ({ advanced: await sandbox.advance(requesterOf(request), request.body.seconds) }),
  );
}
