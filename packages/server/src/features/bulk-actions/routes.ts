import type { preValidationHookHandler } from "fastify";
import { Type } from "typebox";
import { dropNulls, mayHoldNulls } from "../../api/http/absent-fields.ts";
import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB, SMALL } from "../../api/http/cost.ts";
import { readIntegers } from "../../api/http/query-integers.ts";
import { scanOf } from "../../api/http/scan-turns.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { instant, model, oneOf, ref, textOrNull } from "../../api/schemas/field.ts";
import { fitPage } from "../../api/schemas/page.ts";
import { gatherEntries, JSON_FILTER_FIELDS, readFilter } from "../../api/tasks/task-filter-query.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { isEmpty } from "../../domain/task-filter.ts";
import { BULK_ACTIONS, BULK_RATE, BULK_STATUSES, type Bulk } from "./domain.ts";
import type { BulkService } from "./service.ts";

const tags = ["Tasks"];
const EXAMPLE_ID = "bulk_01k9z3mxe5f8hrk3yv5pzq8c2d";

const BulkFilter = Type.Object(
  {
    ...JSON_FILTER_FIELDS,
    sandbox: Type.Optional(
      Type.Boolean({ description: "True: only tasks of the sandbox. Test keys reach no others." }),
    ),
  },
  {
    additionalProperties: false,
    description: "The filters of the list of tasks. An empty filter means every task and requires `confirm`.",
  },
);

const CreateBulk = model(
  "CreateBulk",
  "One action on every task that fits a filter.",
  {
    action: oneOf(BULK_ACTIONS, {
      description:
        "`cancel` takes tasks that have not ended, `retry` failed and cancelled ones, `delete` pending ones, `dismiss` failed ones.",
    }),
    filter: BulkFilter,
    dry_run: Type.Optional(Type.Boolean({ default: false, description: "Only count the matching tasks." })),
    rate: Type.Optional(
      Type.Integer({
        minimum: BULK_RATE.least,
        maximum: BULK_RATE.most,
        default: BULK_RATE.default,
        description: "Maximum tasks a second.",
      }),
    ),
    confirm: Type.Optional(oneOf(["all"], { description: "Required with an empty filter." })),
  },
  {
    additionalProperties: false,
    examples: [
      { action: "retry", filter: { queue: "emails", status: "failed", response_code: "5xx" }, rate: 20 },
    ],
  },
);

const BulkState = model("Bulk", "An action on many tasks, and how far it is.", {
  id: Type.String({ examples: [EXAMPLE_ID] }),
  action: oneOf(BULK_ACTIONS, { description: "The action." }),
  status: oneOf(BULK_STATUSES, { description: "`running` until every task was processed." }),
  matched: Type.Integer({
    description: "Tasks that matched when the action was created. Tasks that match later are not affected.",
  }),
  done: Type.Integer({ description: "Tasks that were changed." }),
  skipped: Type.Integer({ description: "Tasks that were not in a suitable state when they were processed." }),
  created_at: instant("When it was asked for."),
});

const BulkAnswer = model(
  "BulkAnswer",
  "An action on many tasks.",
  { bulk: ref(BulkState) },
  {
    examples: [
      {
        bulk: {
          id: EXAMPLE_ID,
          action: "retry",
          status: "running",
          matched: 1200,
          done: 340,
          skipped: 2,
          created_at: "2026-03-01T09:30:00.000Z",
        },
      },
    ],
  },
);

const BulkList = model("BulkList", "The team's bulk actions, newest first.", {
  bulks: Type.Array(ref(BulkState)),
  pagination: Type.Object({
    limit: Type.Integer(),
    hasMore: Type.Boolean(),
    nextCursor: textOrNull("`cursor` of the next page; null on the last."),
  }),
});

const BulkListQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "Actions on a page." }),
    ),
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before." })),
  },
  { additionalProperties: false },
);

const MatchedTasks = model(
  "MatchedTasks",
  "What a bulk action would be about.",
  { matched: Type.Integer({ description: "Tasks that currently match the filter." }) },
  { examples: [{ matched: 1200 }] },
);

const BulkPath = Type.Object({ bulk_id: Type.String({ examples: [EXAMPLE_ID] }) });

const withoutNulls: preValidationHookHandler = (request, _reply, done) => {
  const { body } = request;
  if (typeof body === "object" && body !== null && "filter" in body) gatherEntries(body.filter);
  if (mayHoldNulls(request)) {
    dropNulls(body, Object.keys(CreateBulk.properties));
    if (typeof body === "object" && body !== null && "filter" in body)
      dropNulls(body.filter, Object.keys(BulkFilter.properties));
  }
  done();
};

export function registerBulkRoutes(app: Api, { bulks }: { readonly bulks: BulkService }): void {
  app.post(
    "/tasks/bulk",
    {
      preValidation: withoutNulls,
      config: {
        ...access("tasks:write"),
        ...costs("scan", { rows: 1_000_000, bytes: SMALL }),
      },
      schema: {
        operationId: "createBulk",
        tags,
        summary: "Cancel, retry, delete or dismiss many tasks",
        description:
          "Selects the matching tasks and processes them in the background, at `rate` tasks a second, each exactly " +
          "once, through restarts. With `dry_run` it only counts them.",
        body: ref(CreateBulk),
        response: {
          202: ref(BulkAnswer),
          200: ref(MatchedTasks),
          ...refusals("bulks_full", "too_many_scans", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const {
        action,
        filter: said,
        rate = BULK_RATE.default,
        dry_run: isDry = false,
        confirm,
      } = request.body;
      const { sandbox = null, ...fields } = said;
      const filter = readFilter(fields, sandbox);
      if (isEmpty({ ...filter, sandbox: false }) && confirm !== "all")
        throw new Problem("invalid", {
          reason: 'An empty filter means every task: say "confirm": "all" with it',
        });
      if (isDry)
        return reply
          .code(200)
          .send({ matched: await bulks.count(callerOf(request), filter, scanOf(request)) });
      const bulk = await bulks.start(requesterOf(request), { action, filter, rate, said }, scanOf(request));
      return reply.code(202).send(answerOf(bulk));
    },
  );

  app.get(
    "/tasks/bulk",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("tasks:read"), ...costs("page", { rows: 101, bytes: MIB }) },
      schema: {
        operationId: "listBulks",
        tags,
        summary: "List bulk actions",
        description: "Newest first. An action is kept for 30 days after its end.",
        querystring: BulkListQuery,
        response: { 200: ref(BulkList), ...refusals() },
      },
    },
    async (request) => {
      const { limit = 20, cursor = null } = request.query;
      const page = await bulks.list(callerOf(request), { limit, cursor });
      const { items, hasMore, nextCursor } = fitPage(page, bulkView);
      return { bulks: items, pagination: { limit, hasMore, nextCursor } };
    },
  );

  app.get(
    "/tasks/bulk/:bulk_id",
    {
      config: { ...access("tasks:read"), ...costs("point", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "getBulk",
        tags,
        summary: "Get a bulk action",
        description: "The progress of a bulk action. It is kept for 30 days after its end.",
        params: BulkPath,
        response: { 200: ref(BulkAnswer), ...refusals("bulk_not_found") },
      },
    },
    async (request) => answerOf(await bulks.get(callerOf(request), readId(request.params.bulk_id))),
  );

  app.post(
    "/tasks/bulk/:bulk_id/stop",
    {
      config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "stopBulk",
        tags,
        summary: "Stop a bulk action",
        description: "Once answered, no further task is changed. Completed changes stay.",
        params: BulkPath,
        response: { 200: ref(BulkAnswer), ...refusals("bulk_not_found", "bulk_ended") },
      },
    },
    async (request) => answerOf(await bulks.stop(requesterOf(request), readId(request.params.bulk_id))),
  );
}

/** What cannot be an id gets the same answer as an unknown one. */
function readId(text: string): string {
  const id = parseId("bulk", text);
  if (id === null) throw new Problem("bulk_not_found");
  return id;
}

function answerOf(bulk: Bulk) {
  return { bulk: bulkView(bulk) };
}

function bulkView({ id, action, status, matched, done, skipped, createdAt }: Bulk) {
  const created_at = createdAt.toISOString();
  return { id: formatId("bulk", id), action, status, matched, done, skipped, created_at };
}
