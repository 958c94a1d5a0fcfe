import { type Static, Type } from "typebox";
import { EITHER_TASK, instant, model, oneOf, ref } from "../../api/schemas/field.ts";
import { pagination } from "../../api/schemas/page.ts";
import { CATCH_UPS, OVERLAPS, SCHEDULE_DEFAULTS, SCHEDULE_NAME_PATTERN } from "./domain.ts";

const name = Type.String({
  pattern: SCHEDULE_NAME_PATTERN,
  description: "1 to 64 letters, digits or hyphens; unique in the team; never changes.",
  examples: ["nightly-report"],
});

const TASK = {
  queue: "default",
  webhook_url: "https://example.com/hooks/report",
  payload: { kind: "daily" },
};

const terms = {
  cron: Type.String({
    description:
      "Five fields (minute, hour, day of month, month, day of week), or six with seconds first. If both day " +
      "fields are set, either one matches.",
    examples: ["30 9 * * mon-fri"],
  }),
  timezone: Type.String({
    default: SCHEDULE_DEFAULTS.timezone,
    description:
      "An IANA time zone. A time that a clock change skips runs at the first instant after the gap, a time that " +
      "occurs twice runs only the first time.",
    examples: ["Europe/Berlin"],
  }),
  // Judged by the handler, as for a single creation.
  task: Type.Object(
    {},
    {
      description:
        "The body of `POST /v1/tasks`, of either kind, without an exact time, an idempotency key and `dedupe`.",
      examples: [TASK],
      ...EITHER_TASK,
    },
  ),
  overlap: oneOf(OVERLAPS, {
    default: SCHEDULE_DEFAULTS.overlap,
    description: "`skip`: the schedule does not fire while one of its tasks has not ended.",
  }),
  catch_up: oneOf(CATCH_UPS, {
    default: SCHEDULE_DEFAULTS.catchUp,
    description:
      "Times that passed while no node was up create `one` task together; with `none` they create none if the " +
      "newest of them is more than 60 s old.",
  }),
  paused: Type.Boolean({
    default: SCHEDULE_DEFAULTS.paused,
    description: "A paused schedule fires only manually.",
  }),
};

const optionalTerms = {
  timezone: Type.Optional(terms.timezone),
  overlap: Type.Optional(terms.overlap),
  catch_up: Type.Optional(terms.catch_up),
  paused: Type.Optional(terms.paused),
};

const EXAMPLE = { cron: "30 9 * * mon-fri", timezone: "Europe/Berlin", task: TASK };

export const PutSchedule = model(
  "PutSchedule",
  "All of a schedule but its name: what is not given has its default.",
  { cron: terms.cron, task: terms.task, ...optionalTerms },
  { additionalProperties: false, examples: [EXAMPLE] },
);
export type PutSchedule = Static<typeof PutSchedule>;

export const CreateSchedule = model(
  "CreateSchedule",
  "When to create which task, again and again.",
  { name, cron: terms.cron, task: terms.task, ...optionalTerms },
  { additionalProperties: false, examples: [{ name: "nightly-report", ...EXAMPLE }] },
);

export const UpdateSchedule = model(
  "UpdateSchedule",
  "What to change of a schedule.",
  { cron: Type.Optional(terms.cron), task: Type.Optional(terms.task), ...optionalTerms },
  { additionalProperties: false, examples: [{ cron: "0 6 * * *" }] },
);
export type UpdateSchedule = Static<typeof UpdateSchedule>;

const LastTask = model("ScheduleLastTask", "The last task that a schedule made.", {
  id: Type.String({
    description: "`task_…` or a UUID, by its shape.",
    examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  status: Type.String({ description: "The state of the task.", examples: ["completed"] }),
  created_at: instant("When it was made."),
});

const LastError = model("ScheduleLastError", "Why the last firing made no task.", {
  at: instant("When it was tried."),
  error: Type.String({ description: "The error that creating such a task would get." }),
});

const summary = {
  id: Type.String({ examples: ["sch_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
  name,
  cron: terms.cron,
  timezone: terms.timezone,
  overlap: terms.overlap,
  catch_up: terms.catch_up,
  paused: terms.paused,
  next_runs: Type.Array(instant("A time at which it fires."), {
    description: "The next five times; none while it is paused.",
  }),
  last_task: Type.Union([ref(LastTask), Type.Null()], { description: "Null if it no longer exists." }),
  last_error: Type.Union([ref(LastError), Type.Null()], {
    description: "Null if the last firing created its task, or was skipped.",
  }),
  created_at: instant("When the schedule was created."),
  updated_at: instant("When it was last changed."),
};

export const ScheduleSummary = model(
  "ScheduleSummary",
  "A schedule in a list: all of it but its task.",
  summary,
);
export type ScheduleSummary = Static<typeof ScheduleSummary>;

export const Schedule = model("Schedule", "A schedule.", {
  ...summary,
  task: Type.Object({}, { description: "As it was written.", examples: [TASK], ...EITHER_TASK }),
});

export const ScheduleAnswer = model("ScheduleAnswer", "A schedule.", { schedule: ref(Schedule) });

export const ScheduleList = model("ScheduleList", "Schedules by name.", {
  schedules: Type.Array(ref(ScheduleSummary)),
  pagination,
});

export const DeletedSchedule = model("DeletedSchedule", "The schedule is gone; its tasks are not.", {
  id: Type.String({ examples: ["sch_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
  name,
  deleted: Type.Boolean(),
});

export const SchedulePath = Type.Object({
  schedule: Type.String({ description: "Its id or its name.", examples: ["nightly-report"] }),
});
