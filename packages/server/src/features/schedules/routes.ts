import type { FastifyReply, FastifyRequest, FastifySchemaValidationError } from "fastify";
import { mayHoldNulls, nullsDropped } from "../../api/http/absent-fields.ts";
import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB, RECORD, SMALL } from "../../api/http/cost.ts";
import { readIntegers } from "../../api/http/query-integers.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { toProblem } from "../../api/http/validation.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { ref } from "../../api/schemas/field.ts";
import { PageQuery, readPage, showPage } from "../../api/schemas/page.ts";
import { prepareTaskBody } from "../../api/tasks/task-body.ts";
import { TASK_FIELDS } from "../../api/tasks/task-fields.ts";
import { CreatedAnswer, CreateEitherTask } from "../../api/tasks/task-models.ts";
import { readTask } from "../../api/tasks/task-reader.ts";
import { createdText } from "../../api/tasks/task-view.ts";
import type { RefuseUrl } from "../../domain/call.ts";
import { invalid } from "../../domain/complaint.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId } from "../../domain/public-id.ts";
import { sliceMember } from "../../domain/raw-json.ts";
import { SCHEDULE_DEFAULTS, type ScheduledTask, type ScheduleTerms } from "./domain.ts";
import {
  CreateSchedule,
  DeletedSchedule,
  PutSchedule,
  ScheduleAnswer,
  ScheduleList,
  SchedulePath,
  UpdateSchedule,
} from "./schemas.ts";
import type { ScheduleService } from "./service.ts";
import { scheduleText, summaryPage } from "./view.ts";

const tags = ["Schedules"];
const TASK_REFUSALS = [
  "vault_token_unknown",
  "vault_token_inside",
  "vault_token_host",
  "vault_off",
  "provider_unknown",
  "queue_not_found",
] as const;

export function registerScheduleRoutes(
  app: Api,
  { schedules, refuseUrl }: { readonly schedules: ScheduleService; readonly refuseUrl: RefuseUrl },
): void {
  const dropNulls = nullsDropped(Object.keys(CreateSchedule.properties));
  const taskOf = (request: FastifyRequest, task: object) => readScheduledTask(request, task, refuseUrl);

  app.post(
    "/schedules",
    {
      preValidation: dropNulls,
      config: { ...access("schedules:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "createSchedule",
        tags,
        summary: "Create a schedule",
        description:
          "Creates a task at every time of `cron` in `timezone`: exactly one each, over all nodes, at most a second " +
          "late while a node is up. With a test key its tasks are sandbox tasks.",
        body: ref(CreateSchedule),
        response: {
          201: ref(ScheduleAnswer),
          ...refusals("schedule_exists", "limit_reached", ...TASK_REFUSALS, ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { name, ...fields } = request.body;
      const terms = readTerms(fields, taskOf(request, fields.task));
      return send(reply.code(201), scheduleText(await schedules.create(requesterOf(request), name, terms)));
    },
  );

  app.get(
    "/schedules",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("schedules:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listSchedules",
        tags,
        summary: "List schedules",
        description:
          "The schedules of the team by name. A test key sees those of test keys, other credentials the rest.",
        querystring: PageQuery,
        response: { 200: ref(ScheduleList), ...refusals() },
      },
    },
    async (request) => {
      const page = await summaryPage(await schedules.list(callerOf(request), readPage(request.query)));
      return { schedules: page.items, ...showPage(page, request.query) };
    },
  );

  app.get(
    "/schedules/:schedule",
    {
      config: { ...access("schedules:read"), ...costs("point", { rows: 100, bytes: RECORD }) },
      schema: {
        operationId: "getSchedule",
        tags,
        summary: "Get a schedule",
        description: "With its task, its next times, and the result of its last firing.",
        params: SchedulePath,
        response: { 200: ref(ScheduleAnswer), ...refusals("schedule_not_found") },
      },
    },
    async (request, reply) =>
      send(reply, scheduleText(await schedules.get(callerOf(request), request.params.schedule))),
  );

  app.put(
    "/schedules/:schedule",
    {
      preValidation: dropNulls,
      config: { ...access("schedules:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "putSchedule",
        tags,
        summary: "Create or replace a schedule by its name",
        description: "201 if the name is new, otherwise 200 with the same id; all other fields are replaced.",
        params: SchedulePath,
        body: ref(PutSchedule),
        response: {
          200: ref(ScheduleAnswer),
          201: ref(ScheduleAnswer),
          ...refusals("schedule_not_found", "limit_reached", ...TASK_REFUSALS, ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      const terms = readTerms(body, taskOf(request, body.task));
      const { schedule, isNew } = await schedules.put(requesterOf(request), params.schedule, terms);
      return send(reply.code(isNew ? 201 : 200), scheduleText(schedule));
    },
  );

  app.patch(
    "/schedules/:schedule",
    {
      preValidation: dropNulls,
      config: { ...access("schedules:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "updateSchedule",
        tags,
        summary: "Change a schedule",
        description: "Omitted fields stay unchanged. Existing tasks are not affected.",
        params: SchedulePath,
        body: ref(UpdateSchedule),
        response: {
          200: ref(ScheduleAnswer),
          ...refusals("schedule_not_found", ...TASK_REFUSALS, ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      const task = body.task === undefined ? undefined : taskOf(request, body.task);
      const changes = readChanges(body, task);
      return send(
        reply,
        scheduleText(await schedules.update(requesterOf(request), params.schedule, changes)),
      );
    },
  );

  for (const [action, paused, summary, description] of SWITCHES) {
    app.post(
      `/schedules/:schedule/${action}`,
      {
        config: { ...access("schedules:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
        schema: {
          operationId: `${action}Schedule`,
          tags,
          summary,
          description,
          params: SchedulePath,
          response: { 200: ref(ScheduleAnswer), ...refusals("schedule_not_found") },
        },
      },
      async (request, reply) => {
        const { schedule } = request.params;
        return send(reply, scheduleText(await schedules.update(requesterOf(request), schedule, { paused })));
      },
    );
  }

  app.post(
    "/schedules/:schedule/run",
    {
      config: { ...access("schedules:write"), ...costs("write", { rows: 100, bytes: RECORD }) },
      schema: {
        operationId: "runSchedule",
        tags,
        summary: "Fire a schedule now",
        description:
          "Fires even if the schedule is paused and regardless of `overlap`. Its next times stay unchanged.",
        params: SchedulePath,
        response: { 201: CreatedAnswer, ...refusals("schedule_not_found", ...TASK_REFUSALS) },
      },
    },
    async (request, reply) => {
      const task = await schedules.run(requesterOf(request), request.params.schedule);
      return send(reply.code(201), createdText(task));
    },
  );

  app.delete(
    "/schedules/:schedule",
    {
      config: { ...access("schedules:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "deleteSchedule",
        tags,
        summary: "Delete a schedule",
        description: "It no longer fires. Its tasks remain.",
        params: SchedulePath,
        response: { 200: ref(DeletedSchedule), ...refusals("schedule_not_found") },
      },
    },
    async (request) => {
      const { id, name } = await schedules.remove(requesterOf(request), request.params.schedule);
      return { id: formatId("sch", id), name, deleted: true };
    },
  );
}

const SWITCHES = [
  ["pause", true, "Pause a schedule", "It fires only by hand until it is resumed."],
  [
    "resume",
    false,
    "Resume a schedule",
    "It fires again from its next time on; what was missed stays missed.",
  ],
] as const;

function readTerms(fields: PutSchedule, task: ScheduledTask): ScheduleTerms {
  return { ...SCHEDULE_DEFAULTS, cron: fields.cron, ...readChanges(fields, task), task };
}

function readChanges(fields: UpdateSchedule, task: ScheduledTask | undefined): Partial<ScheduleTerms> {
  const { cron, timezone, overlap, catch_up: catchUp, paused } = fields;
  return {
    ...(cron !== undefined && { cron }),
    ...(timezone !== undefined && { timezone }),
    ...(overlap !== undefined && { overlap }),
    ...(catchUp !== undefined && { catchUp }),
    ...(paused !== undefined && { paused }),
    ...(task !== undefined && { task }),
  };
}

/** When a firing is, and what tells it from the others, is for the schedule to say. */
const MISPLACED: readonly string[] = [
  ...TASK_FIELDS.runAt.names,
  ...TASK_FIELDS.idempotencyKey.names,
  TASK_FIELDS.dedupe.names[0],
];

/** One object for all requests: the compiler keeps what it compiled by the object. */
const SCHEDULED_TASK = { ...CreateEitherTask };

/** By the rules of a single creation; what it is refused for is said to be of `task`. */
function readScheduledTask(request: FastifyRequest, body: object, refuseUrl: RefuseUrl): ScheduledTask {
  const text = sliceMember(request.bodyText, "task") ?? "{}";
  const validate = request.compileValidationSchema(SCHEDULED_TASK);
  const problem = prepareTaskBody(body, mayHoldNulls(request));
  if (problem !== null) throw ofTask(problem);
  const misplaced = MISPLACED.find((name) => Object.hasOwn(body, name));
  if (misplaced !== undefined)
    throw invalid([{ field: "task", error: `task: ${misplaced} cannot be given in a schedule` }]);
  if (!validate(body)) throw ofTask(toProblem(errorsOf(validate), "body"));
  try {
    const context = { text, extracted: null, idempotencyKey: undefined, now: new Date(), refuseUrl };
    return { text, request: readTask({ ...body }, context) };
  } catch (error) {
    throw error instanceof Problem ? ofTask(error) : error;
  }
}

function ofTask(problem: Problem): Problem {
  if (problem.status !== 400) return problem;
  const { details } = problem;
  return new Problem("invalid", { reason: `task: ${problem.message}` }, { details });
}

function errorsOf(validate: { errors?: unknown }): FastifySchemaValidationError[] {
  return Array.isArray(validate.errors) ? validate.errors : [];
}

function send(reply: FastifyReply, json: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(json);
}
