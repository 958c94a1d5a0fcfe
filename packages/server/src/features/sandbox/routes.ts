import { Type } from "typebox";
import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, SMALL } from "../../api/http/cost.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { instant, model, ref, textOrNull } from "../../api/schemas/field.ts";
import type { SandboxClock } from "../../domain/simulation.ts";
import { LONGEST_DELAY_SECONDS } from "../../domain/task-request.ts";
import type { SandboxService } from "./service.ts";

const clock = {
  now: instant("What the clock of the sandbox shows. The times in the records of its tasks are by it."),
  ahead_seconds: Type.Integer({ description: "Seconds by which the clock is ahead." }),
};

const CLOCK = { now: "2026-01-31T10:00:00.000Z", ahead_seconds: 3600 };

const AdvanceSandbox = model(
  "AdvanceSandbox",
  "How much time is to pass.",
  {
    seconds: Type.Integer({
      minimum: 1,
      maximum: LONGEST_DELAY_SECONDS,
      description: "Seconds to advance the team's sandbox clock.",
    }),
  },
  { additionalProperties: false, examples: [{ seconds: 3600 }] },
);

const SandboxAdvanced = model(
  "SandboxAdvanced",
  "How much time has passed.",
  {
    advanced: Type.Integer({
      description: "Seconds that the clock advanced: fewer than requested if too much happens within them.",
    }),
    stopped: textOrNull("Why fewer seconds passed than were asked for; null if all of them did."),
    sandbox: Type.Object(clock),
  },
  { examples: [{ advanced: 3600, stopped: null, sandbox: CLOCK }] },
);

const Sandbox = model(
  "Sandbox",
  "The sandbox of the team.",
  { sandbox: Type.Object(clock) },
  { examples: [{ sandbox: CLOCK }] },
);

function showClock({ now, aheadSeconds }: SandboxClock): { now: string; ahead_seconds: number } {
  return { now: now.toISOString(), ahead_seconds: aheadSeconds };
}

export function registerSandboxRoutes(app: Api, sandbox: SandboxService): void {
  app.get(
    "/sandbox",
    {
      config: { ...access("tasks:read"), ...costs("point", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "getSandbox",
        tags: ["Tasks"],
        summary: "Get the clock of the sandbox",
        description: "The time of the team's sandbox, which its tasks use. Only with a test key.",
        response: { 200: ref(Sandbox), ...refusals("live_refused") },
      },
    },
    async (request) => ({ sandbox: showClock(await sandbox.clock(callerOf(request))) }),
  );

  app.post(
    "/sandbox/advance",
    {
      config: {
        ...access("tasks:write"),
        isPatient: true,
        ...costs("fan-out", { rows: 1_000_000, bytes: SMALL }),
      },
      schema: {
        operationId: "advanceSandbox",
        tags: ["Tasks"],
        summary: "Advance the clock of the sandbox",
        description:
          "Answers once everything due within this time has happened: delays, retries and expiry of tasks, " +
          "callbacks, and firings of the schedules of test keys. Only with a test key.",
        body: ref(AdvanceSandbox),
        response: { 200: ref(SandboxAdvanced), ...refusals("live_refused", ...BODY_REFUSALS) },
      },
    },
    async (request) => {
      const {
        seconds,
        stopped,
        clock: reached,
      } = await sandbox.advance(requesterOf(request), request.body.seconds);
      return { advanced: seconds, stopped, sandbox: showClock(reached) };
    },
  );
}
