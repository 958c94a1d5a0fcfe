import { Type } from "typebox";
import { REASON_CODES } from "../../domain/explanation.ts";
import { Problem } from "../../domain/problem.ts";
import { parseTaskId, publicTaskId } from "../../domain/task-id.ts";
import type { ExplanationService } from "../../service/tasks/explanation-service.ts";
import { access } from "../http/access.ts";
import { callerOf } from "../http/auth-hook.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { refusals } from "../schemas/error.ts";
import { model, oneOf, ref } from "../schemas/field.ts";
import { STATUSES } from "../schemas/task-status.ts";
import { TaskPath } from "./tasks.ts";

const Explanation = model(
  "Explanation",
  "Why a task runs, or does not.",
  {
    task: Type.Object({
      id: Type.String({ description: "`task_…` or a UUID, as the task was created." }),
      status: oneOf(STATUSES, { description: "The state of the task." }),
    }),
    runnable: Type.Boolean({
      description: "No reason blocks it: it is pending, and the next free node starts it.",
    }),
    starts_about: Type.Unsafe<string | null>({
      type: ["string", "null"],
      format: "date-time",
      description:
        "About when a pending task starts, computed from its delay, the rate of its flow, its place in the queue and the starts of " +
        "the last minutes. An estimate: tasks that come with a higher priority go first. Null where it cannot be computed.",
    }),
    reasons: Type.Array(
      Type.Object({
        code: oneOf(REASON_CODES, {
          description: "The code of the reason, for programs. More may be added.",
        }),
        detail: Type.String({ description: "One sentence for people." }),
        until: Type.Unsafe<string | null>({
          type: ["string", "null"],
          format: "date-time",
          description: "When it ends at the latest; null if unknown.",
        }),
        blocked_by: Type.Optional(
          Type.String({ description: "Of `blocked_by`: the id of the task that holds the line." }),
        ),
      }),
      { description: "All current reasons; empty for an ended task." },
    ),
  },
  {
    examples: [
      {
        task: { id: "task_01k9z3mxe5f8hrk3yv5pzq8c2d", status: "pending" },
        runnable: false,
        starts_about: null,
        reasons: [{ code: "queue_paused", detail: 'Queue "emails" is paused', until: null }],
      },
    ],
  },
);

export function registerExplanationRoute(
  app: Api,
  { explanations }: { readonly explanations: ExplanationService },
): void {
  app.get(
    "/tasks/:task_id/explain",
    {
      config: { ...access("tasks:read"), ...costs("scan", { rows: 10_000, bytes: SMALL }) },
      schema: {
        operationId: "explainTask",
        tags: ["Tasks"],
        summary: "Explain why a task does not run",
        description: "All reasons why the task is not being called at this moment, or that it is.",
        params: TaskPath,
        response: { 200: ref(Explanation), ...refusals("task_not_found", "too_many_scans") },
      },
    },
    async (request) => {
      const id = parseTaskId(request.params.task_id);
      if (id === null) throw new Problem("task_not_found");
      const { task, runnable, startsAbout, reasons } = await explanations.explain(callerOf(request), id);
      return {
        task: { id: publicTaskId(task), status: task.status },
        runnable,
        starts_about: startsAbout?.toISOString() ?? null,
        reasons: reasons.map(({ code, detail, until, blockedBy }) => ({
          code,
          detail,
          until: until?.toISOString() ?? null,
          ...(blockedBy !== undefined && { blocked_by: publicTaskId(blockedBy) }),
        })),
      };
    },
  );
}
