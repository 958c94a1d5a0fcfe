import { canonicalText } from "../../domain/canonical-text.ts";
import { echo, invalid } from "../../domain/complaint.ts";
import { type Principal, type Requester, requireScope } from "../../domain/identity/principal.ts";
import { requireRoom } from "../../domain/limits.ts";
import { cutPage, type Page, type PageRequest } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import type { CreatedTask } from "../../domain/task.ts";
import type { TaskChanges } from "../../domain/task-changes.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import { type Change, recordChange } from "../../service/audit/audit.ts";
import { newUuid } from "../../service/new-uuid.ts";
import type { StorageQuota } from "../../service/storage-quota.ts";
import type { TaskService } from "../../service/tasks/task-service.ts";
import { inTurns } from "../../service/turns.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { hintText, sendHints } from "../../store/tasks/hints.ts";
import { findQueue } from "../../store/tasks/queues.ts";
import { readSandboxClock } from "../../store/tasks/sandbox-clocks.ts";
import { holdTeamUsage } from "../../store/team-usage.ts";
import type { TraceFirings } from "../../tracing/tracing.ts";
import {
  clockTime,
  type ListedSchedule,
  ownTime,
  SCHEDULE_NAME_PATTERN,
  SCHEDULE_READ_PATTERN,
  type Schedule,
  type ScheduledTask,
  type ScheduleTerms,
  scheduleComplaints,
} from "./domain.ts";
import { cronTimes } from "./domain-cron.ts";
import { type FanOut, fanOutOf, prepareTasks, storeTasks } from "./service-fan-out.ts";
import {
  databaseNow,
  findSchedule,
  insertSchedule,
  listSchedules,
  removeSchedule,
  type ScheduleKey,
  updateSchedule,
} from "./store.ts";
import { recordRun } from "./store-firings.ts";

/** Schedules are found by id or name; a test key has its own, whose tasks are sandbox tasks. */
export interface ScheduleService {
  create(requester: Requester, name: string, terms: ScheduleTerms): Promise<Schedule>;
  /** Creates it, or replaces everything but its id. */
  put(
    requester: Requester,
    name: string,
    terms: ScheduleTerms,
  ): Promise<{ readonly schedule: Schedule; readonly isNew: boolean }>;
  /** By name. */
  list(principal: Principal, page: PageRequest): Promise<Page<ListedSchedule>>;
  get(principal: Principal, idOrName: string): Promise<Schedule>;
  update(requester: Requester, idOrName: string, changes: Partial<ScheduleTerms>): Promise<Schedule>;
  remove(requester: Requester, idOrName: string): Promise<Schedule>;
  /** Fires it now, paused or not. */
  run(requester: Requester, idOrName: string): Promise<CreatedTask>;
}

const NAME = new RegExp(SCHEDULE_READ_PATTERN);
/** Of a schedule that is no message of the QStash-compatible API. */
const PLAIN_NAME = new RegExp(SCHEDULE_NAME_PATTERN);

export function createScheduleService(deps: {
  readonly database: Database;
  readonly accept: TaskService["accept"];
  readonly checkTask: TaskService["check"];
  readonly storageQuota: Pick<StorageQuota, "store">;
  readonly changes: Pick<TaskChanges, "created">;
  readonly fanOut?: FanOut | undefined;
  readonly traceFirings?: TraceFirings | undefined;
}): ScheduleService {
  const { database, traceFirings = (each) => each } = deps;

  /** Refuses a schedule that could never fire: by its own rules, and by its task's current references. */
  async function check(principal: Principal, terms: Partial<ScheduleTerms>): Promise<void> {
    const complaints = scheduleComplaints(terms);
    if (complaints.length > 0) throw invalid(complaints);
    if (terms.task === undefined) return;
    await checkTask(principal, terms.task.request);
    // As it is shown, and as it is submitted.
    await deps.storageQuota.store(principal, 2 * terms.task.text.length);
  }

  async function checkTask(principal: Principal, request: TaskRequest): Promise<void> {
    const { teamId, environment } = principal;
    const requireTokenUse = () => requireScope(principal, "tokens:use");
    const sandbox = environment === "test";
    await deps.checkTask({ teamId, sandbox, terms: principal, idempotency: null, requireTokenUse }, request);
    const { queue } = request;
    if ((await findQueue(database, principal, queue)) === null)
      throw new Problem("queue_not_found", { name: queue });
  }

  async function found(sql: Sql, principal: Principal, idOrName: string, lock = false): Promise<Schedule> {
    const key = readKey(idOrName);
    const schedule = key && (await findSchedule(sql, principal, key, lock));
    if (schedule === null) throw new Problem("schedule_not_found", { name: echo(idOrName) });
    return schedule;
  }

  /** Records it and notifies every scheduler, in the commit of the change. */
  async function tell(sql: Sql, requester: Requester, change: Change): Promise<void> {
    await recordChange(sql, requester, change);
    await sendHints(sql, [hintText({ kind: "schedule", teamId: requester.teamId, queue: "-" }, 0)]);
  }

  async function insert(
    sql: Sql,
    requester: Requester,
    name: string,
    terms: ScheduleTerms,
  ): Promise<Schedule | null> {
    if (requester.limits.schedules !== null)
      requireRoom(requester, "schedules", (await holdTeamUsage(sql, requester)).schedules);
    const id = newUuid();
    const own = await clockOf(sql, requester);
    const nextRunAt = nextRun(terms, await databaseNow(sql), own);
    const { aheadSeconds } = own;
    if (!(await insertSchedule(sql, requester, { ...terms, id, name, nextRunAt, aheadSeconds }))) return null;
    await tell(sql, requester, { action: "schedule.created", target: formatId("sch", id), detail: { name } });
    return findSchedule(sql, requester, { id });
  }

  /** A change that does not affect its times keeps the due time: it may be firing. */
  async function change(
    sql: Sql,
    requester: Requester,
    schedule: Schedule,
    terms: ScheduleTerms,
    action: string,
  ): Promise<Schedule> {
    const { id, cron, timezone, paused, name } = schedule;
    const task = taskOf(schedule, terms);
    const isSameTime = terms.cron === cron && terms.timezone === timezone && terms.paused === paused;
    const nextRunAt = isSameTime ? schedule.nextRunAt : nextRun(terms, schedule.now, schedule);
    await updateSchedule(sql, schedule, { ...terms, task, nextRunAt });
    await tell(sql, requester, { action, target: formatId("sch", id), detail: { name } });
    return found(sql, requester, formatId("sch", id));
  }

  const fire = traceFirings(async (schedule: Schedule, requester: Requester): Promise<CreatedTask> => {
    const { teamId, task } = schedule;
    const recipients = await fanOutOf(task.request, deps.fanOut).recipientsOf(teamId, task.request);
    const [prepared] = await prepareTasks({ inTurns, ...deps }, [{ schedule, terms: requester, recipients }]);
    if (prepared?.status !== "fulfilled") throw prepared?.reason;
    const [first] = prepared.value;
    if (first === undefined) throw new Error("A firing has no task");
    const tasks = prepared.value.map(({ task }) => task);
    const target = formatId("sch", schedule.id);
    const accepted = await database.transaction(async (sql) => {
      await found(sql, requester, target, true);
      const stored = await storeTasks(sql, tasks);
      await recordRun(sql, schedule, first.task.id);
      const detail = { name: schedule.name };
      await recordChange(sql, requester, { action: "schedule.run", target, detail });
      return stored;
    });
    for (const [index, task] of tasks.entries()) {
      const stored = accepted[index];
      if (stored !== undefined) deps.changes.created(task, stored);
    }
    const [stored] = accepted;
    if (stored === undefined) throw new Error("A firing has no task");
    return { ...first.finish(stored), scheduleId: schedule.id };
  });

  return {
    async create(requester, name, terms) {
      await check(requester, terms);
      const schedule = await database.transaction((sql) => insert(sql, requester, name, terms));
      if (schedule === null) throw new Problem("schedule_exists", { name });
      return schedule;
    },
    async put(requester, name, terms) {
      await check(requester, terms);
      const pattern = terms.task.request.message === null ? PLAIN_NAME : NAME;
      if (!pattern.test(name)) throw new Problem("schedule_not_found", { name: echo(name) });
      for (;;) {
        // Of two that find none, one creates it, and the other finds it in the next round.
        const done = await database.transaction(async (sql) => {
          const there = await findSchedule(sql, requester, { name }, true);
          const isNew = there === null;
          const schedule = isNew
            ? await insert(sql, requester, name, terms)
            : await change(sql, requester, there, terms, "schedule.replaced");
          return schedule && { schedule, isNew };
        });
        if (done !== null) return done;
      }
    },
    async list(principal, { limit, cursor }) {
      const found = await listSchedules(database, principal, { limit: limit + 1, cursor });
      return cutPage(found, limit, ({ name }) => name);
    },
    get: (principal, idOrName) => found(database, principal, idOrName),
    async update(requester, idOrName, changes) {
      await check(requester, changes);
      return database.transaction(async (sql) => {
        const schedule = await found(sql, requester, idOrName, true);
        if (Object.keys(changes).length === 0) return schedule;
        return change(sql, requester, schedule, { ...schedule, ...changes }, actionOf(changes));
      });
    },
    remove: (requester, idOrName) =>
      database.transaction(async (sql) => {
        const schedule = await found(sql, requester, idOrName, true);
        const { id, name } = schedule;
        await removeSchedule(sql, requester, id);
        await tell(sql, requester, {
          action: "schedule.deleted",
          target: formatId("sch", id),
          detail: { name },
        });
        return schedule;
      }),
    run: async (requester, idOrName) => fire(await found(database, requester, idOrName), requester),
  };
}

/**
 * The task of a changed schedule. A message of /v2 has more than its text tells, and the text has hashes of what is redacted:
 * sent back as it was read, it changes nothing, and no other task of /v1 replaces it.
 */
function taskOf({ task: before }: Schedule, { task }: ScheduleTerms): ScheduledTask {
  if (before.request.message === null || task.request.message !== null || task === before) return task;
  if (canonicalText(JSON.parse(task.text)) === canonicalText(JSON.parse(before.text))) return before;
  throw invalid([
    {
      field: "task",
      error: "task is a message of /v2: change it with POST /v2/schedules, or send it as it was read",
    },
  ]);
}

/** Schedules of test keys use the sandbox clock. */
async function clockOf(
  sql: Sql,
  { teamId, environment }: Requester,
): Promise<Pick<Schedule, "aheadSeconds">> {
  return environment === "test" ? readSandboxClock(sql, teamId) : { aheadSeconds: 0 };
}

function nextRun(
  { cron, timezone, paused }: ScheduleTerms,
  now: Date,
  own: Pick<Schedule, "aheadSeconds">,
): Date | null {
  return paused ? null : clockTime(own, cronTimes(cron, timezone).next(ownTime(own, now)));
}

function readKey(idOrName: string): ScheduleKey | null {
  const id = parseId("sch", idOrName);
  if (id !== null) return { id };
  return NAME.test(idOrName) ? { name: idOrName } : null;
}

function actionOf(changes: Partial<ScheduleTerms>): string {
  const { paused, ...others } = changes;
  if (paused === undefined || Object.keys(others).length > 0) return "schedule.updated";
  return paused ? "schedule.paused" : "schedule.resumed";
}
