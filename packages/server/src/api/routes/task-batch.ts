import type { FastifyRequest, FastifySchemaValidationError } from "fastify";
import { type Static, Type } from "typebox";
import type { RefuseUrl } from "../../domain/call.ts";
import { invalid } from "../../domain/complaint.ts";
import type { ExtractedPayloads } from "../../domain/json/outline.ts";
import { Problem } from "../../domain/problem.ts";
import { sliceElements, sliceMember } from "../../domain/raw-json.ts";
import type { LoopShare } from "../../service/access/loop-share.ts";
import type { BatchItem, BatchResult } from "../../service/tasks/task-batch.ts";
import { inTurns } from "../../service/turns.ts";
import { mayHoldNulls, nullsDropped } from "../http/absent-fields.ts";
import { access } from "../http/access.ts";
import { callerOf } from "../http/auth-hook.ts";
import { firstErrorOnly } from "../http/compilers.ts";
import { costs, MIB } from "../http/cost.ts";
import { manyFieldsIn } from "../http/json-body.ts";
import type { Api } from "../http/schema-types.ts";
import { toProblem, unknownField } from "../http/validation.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { EITHER_TASK, model, ref } from "../schemas/field.ts";
import { batchFrame, createBatchWriter } from "../tasks/batch-text.ts";
import { prepareTaskBody, unknownTaskField } from "../tasks/task-body.ts";
import { BriefTask, CreatedTask, CreateEitherTask, NewDirectTask } from "../tasks/task-models.ts";
import { readTask } from "../tasks/task-reader.ts";
import type { TaskRouteDeps } from "./tasks.ts";

const MOST_TASKS = 1000;
const BODY_LIMIT = 10 * 1024 * 1024;

const CreateTasks = model(
  "CreateTasks",
  "Many new tasks, of either kind.",
  {
    // Validated one by one in the handler: one refused item must not refuse the others.
    tasks: Type.Array(Type.Unknown({ description: "As for a single creation.", ...EITHER_TASK }), {
      minItems: 1,
      maxItems: MOST_TASKS,
      description: `1 to ${MOST_TASKS} bodies of \`POST /v1/tasks\`, each with its own idempotency key if it has one.`,
    }),
    atomic: Type.Optional(
      Type.Boolean({
        default: false,
        description: "All or none: one refused item refuses the batch, and no task is stored.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [
      {
        tasks: [
          { queue: "emails", webhook_url: "https://example.com/hooks/welcome", payload: { user_id: 42 } },
          { targetUrl: "https://api.example.com/jobs", body: { job: 7 } },
        ],
      },
    ],
  },
);

const BatchItemAnswer = model("BatchItem", "What became of one item: a task, or a refusal.", {
  index: Type.Integer({ description: "Its place in the batch, from 0." }),
  task: Type.Optional(
    Type.Unsafe<Static<typeof CreatedTask> | Static<typeof NewDirectTask> | Static<typeof BriefTask>>({
      description:
        "As it was accepted, in its own words. A direct task of an earlier request has no `body`. The answer has at most 1 MiB: a " +
        "task that has no room in it has no `body` either, or only `id`, `status` and its callback.",
      anyOf: [ref(CreatedTask), ref(NewDirectTask), ref(BriefTask)],
    }),
  ),
  callbackId: Type.Optional(Type.String({ description: "Of a direct task." })),
  callbackUrl: Type.Optional(Type.String({ description: "Of a direct task." })),
  replayed: Type.Optional(
    Type.Boolean({ description: "True if an earlier request with its key created the task." }),
  ),
  deduplicated: Type.Optional(
    Type.Boolean({ description: "True if it created no task: an earlier one has its deduplication key." }),
  ),
  replaced: Type.Optional(
    Type.Boolean({
      description: "True if it took the place of what an earlier task with its deduplication key said.",
    }),
  ),
  error: Type.Optional(Type.String({ description: "Why it was refused, as for a single creation." })),
  code: Type.Optional(Type.String({ description: "The error code, for programs." })),
});

const BatchAnswer = model("BatchAnswer", "What became of a batch.", {
  created: Type.Integer(),
  replayed: Type.Integer(),
  deduplicated: Type.Optional(
    Type.Integer({
      description: "Items that joined an earlier task by their deduplication key; absent if no item has one.",
    }),
  ),
  refused: Type.Integer(),
  results: Type.Array(ref(BatchItemAnswer), { description: "One result per item, in order." }),
});

export function registerBatchRoute(
  app: Api,
  deps: Pick<TaskRouteDeps, "tasks" | "refuseUrl"> & {
    /** Of one item, as of the body of a single creation. */
    readonly itemLimitBytes: number;
    readonly loop: Pick<LoopShare, "spent">;
  },
): void {
  app.post(
    "/tasks/batch",
    {
      bodyLimit: BODY_LIMIT,
      preValidation: nullsDropped(Object.keys(CreateTasks.properties)),
      config: {
        ...access("tasks:write"),
        isPatient: true,
        ...costs("fan-out", { rows: 1_000, bytes: MIB }),
      },
      schema: {
        operationId: "createTasks",
        tags: ["Tasks"],
        summary: "Create many tasks",
        description:
          `Accepts up to ${MOST_TASKS} tasks of either kind in 10 MiB, each as large as the body of a single creation may be ` +
          "(1 MiB, `BELLHOP_BODY_LIMIT`). Each is answered as a single creation would be; " +
          "those that are accepted are on disk. With `atomic` it is all or none. The answer has at most 1 MiB.",
        body: ref(CreateTasks),
        response: { 200: ref(BatchAnswer), ...refusals("batch_refused", ...BODY_REFUSALS) },
      },
    },
    async (request, reply) => {
      const { atomic = false } = request.body;
      const caller = callerOf(request);
      const { teamId } = caller;
      const onSpent = (ms: number) => deps.loop.spent(teamId, "request", ms);
      const items = await inTurns(
        teamId,
        request.body.tasks,
        createItemReader(request, deps),
        // The body parser meters what runs inside it.
        (ms, hasWaited) => hasWaited && onSpent(ms),
      );
      const results = await deps.tasks.createMany(caller, items, atomic);
      const frames = await inTurns(teamId, results, batchFrame, onSpent);
      const texts = await inTurns(teamId, results, createBatchWriter(frames), onSpent);
      return reply.type("application/json; charset=utf-8").send(batchText(results, texts));
    },
  );
}

interface ItemRules {
  readonly refuseUrl: RefuseUrl;
  readonly itemLimitBytes: number;
}

const ITEM = firstErrorOnly({ ...CreateEitherTask });

/** Only the first error of each item is reported, and a spelling suggestion only once for all. */
function createItemReader(
  request: FastifyRequest<{ Body: Static<typeof CreateTasks> }>,
  { refuseUrl, itemLimitBytes }: ItemRules,
): (item: unknown, index: number) => BatchItem {
  const sources = sliceElements(sliceMember(request.bodyText, "tasks") ?? "[]");
  const validate = request.compileValidationSchema(ITEM);
  const { extracted } = request;
  const now = new Date();
  const holdsNulls = mayHoldNulls(request);
  let mayHint = true;

  function problemOf(item: unknown): Problem | null {
    const problem = manyFieldsIn(item) ?? prepareTaskBody(item, holdsNulls, mayHint);
    if (problem !== null) return problem;
    const unknown = unknownTaskField(item);
    if (unknown === undefined) return validate(item) ? null : toProblem(errorsOf(validate), "body");
    return invalid([unknownField(unknown.name, mayHint ? unknown.schema : undefined)]);
  }

  return (item, index) => {
    const text = sources[index] ?? "{}";
    if (itemBytes(text, extracted) > itemLimitBytes) return new Problem("body_too_large");
    const problem = problemOf(item);
    if (problem !== null) {
      mayHint = false;
      return problem;
    }
    try {
      const context = { text, extracted, idempotencyKey: undefined, now, refuseUrl };
      return readTask({ ...(item as object) }, context);
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  };
}

/** As it was written: of a large batch the text has less. */
function itemBytes(text: string, extracted: ExtractedPayloads | null): number {
  const bytes = Buffer.byteLength(text);
  if (extracted === null) return bytes;
  return ["payload", "body"].reduce((sum, name) => {
    const source = sliceMember(text, name) ?? "";
    return sum + Buffer.byteLength(extracted.textOf(source)) - Buffer.byteLength(source);
  }, bytes);
}

function errorsOf(validate: { errors?: unknown }): FastifySchemaValidationError[] {
  return Array.isArray(validate.errors) ? validate.errors : [];
}

type CreatedTaskResult = Exclude<BatchResult, Problem>;

function batchText(results: readonly BatchResult[], texts: readonly string[]): string {
  const refused = results.filter((result) => result instanceof Problem).length;
  const count = (isCounted: (task: CreatedTaskResult) => boolean) =>
    results.filter((result) => !(result instanceof Problem) && isCounted(result)).length;
  const replayed = count((task) => task.replayed);
  const deduplicated = count((task) => task.joined !== null);
  const created = results.length - refused - replayed - deduplicated;
  const hasKeys = count((task) => task.dedupe !== null) > 0;
  const head = { created, replayed, ...(hasKeys && { deduplicated }), refused };
  return `${JSON.stringify(head).slice(0, -1)},"results":[${texts.join()}]}`;
}
