import { Type } from "typebox";
import { Problem } from "../../domain/problem.ts";
import type { JsonGate } from "../../json/gate.ts";
import type { CallbackService } from "../../service/tasks/callback-service.ts";
import { costs, RECORD } from "../http/cost.ts";
import { acceptJsonOfAnyType } from "../http/json-body.ts";
import type { Api } from "../http/schema-types.ts";
import { UNCOUNTED } from "../http/visit-limit.ts";
import { openRefusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { ResolvedTask } from "../tasks/task-models.ts";
import { resolvedView } from "../tasks/task-view.ts";

const CallbackPath = Type.Object({
  callbackId: Type.String({
    description: "64 hexadecimal digits, as they were issued when the task was created.",
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  }),
});

/** Public: the id is the credential, and works once. In a scope of its own, for the media types that it takes. */
export function registerCallbackRoutes(app: Api, callbacks: CallbackService, json: JsonGate): void {
  acceptJsonOfAnyType(app, json);
  // Before the body is read: what is refused for its body was a request too.
  app.addHook("onRequest", (request) => callbacks.admit(request.ip));
  app.post(
    "/callbacks/:callbackId",
    {
      // The id is the credential: without one that counts, nothing of the body is read.
      onRequest: (request) => callbacks.requireKnown(request.params.callbackId),
      config: { ...UNCOUNTED, ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "resolveCallback",
        tags: ["Callbacks"],
        summary: "Report the result of a task",
        description:
          "Ends the task that waits for this callback, or is polled, with the whole body as its result. Any JSON is " +
          "accepted, under any Content-Type. If the first call of the task is still in flight, the callback is held " +
          "for up to 5 s. At most 30 requests in 60 s from one address, including refused ones. No credential is " +
          "needed.",
        security: [],
        params: CallbackPath,
        // Third parties add parameters of their own to the addresses they call; their result must not be lost for it.
        querystring: Type.Object({}),
        body: Type.Unknown({
          description: "Any JSON value: object, array, string, number, boolean or null.",
        }),
        response: {
          200: ref(ResolvedTask),
          ...openRefusals(
            "body_not_json",
            "callback_unknown",
            "callback_not_awaited",
            "body_too_large",
            "body_not_read",
            "bodies_waiting",
            "body_not_typed",
            "body_coding_unknown",
            "body_not_decoded",
            "rate_limited",
            "database_away",
          ),
        },
      },
    },
    async (request) => {
      if (request.bodyText === "") throw new Problem("body_not_json");
      const { callbackId } = request.params;
      return resolvedView(await callbacks.resolve(callbackId, request.bodyText));
    },
  );
}
