import type { Life } from "../../chaos/checker/history.ts";
import { UNBOUNDED } from "../../packages/server/src/domain/limits.ts";
import type { NewTask } from "../../packages/server/src/domain/task.ts";
import type { TaskChanges } from "../../packages/server/src/domain/task-changes.ts";
import type { Engine } from "../../packages/server/src/engine/engine.ts";
import type { Log } from "../../packages/server/src/engine/log.ts";
import type { Caller } from "../../packages/server/src/outbound/caller.ts";
import type { EventFeed } from "../../packages/server/src/service/tasks/event-feed.ts";
import type { EventWords } from "../../packages/server/src/service/tasks/event-serializer.ts";
import type { Deduplication } from "../../packages/server/src/service/tasks/task-deduplication.ts";
import type { TaskService } from "../../packages/server/src/service/tasks/task-service.ts";
import type { Database } from "../../packages/server/src/store/sql.ts";
import type { Server } from "../server.ts";
import type { Process } from "./process.ts";
import type { Purpose } from "./purposes.ts";

/** One process with the engine that runs in it. */
export interface SimulatedNode {
  readonly process: Process;
  readonly engine: Engine;
  readonly changes: TaskChanges;
  readonly events: EventFeed;
  readonly deduplication: Deduplication;
  readonly databases: Readonly<Record<Purpose, Database>>;
  readonly life: { -readonly [Key in keyof Life]: Life[Key] };
}

const CAPACITY = 20;

/** Puts the real engine together as `compose-node.ts` does, on what is simulated. */
export function createNodeEngine(options: {
  readonly server: Server;
  readonly process: Process;
  readonly databases: Readonly<Record<Purpose, Database>>;
  readonly changes: TaskChanges;
  readonly caller: Pick<Caller, "call">;
  readonly random: () => number;
  /** What the next firing of a schedule makes, on whatever node. */
  readonly nextScheduled: () => NewTask;
  /** Told of everything that the engine takes for a bug. */
  readonly onBug: (what: string) => void;
}): Engine {
  const { server, process, databases, changes } = options;
  const nothing = () => {};
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error(fields, message) {
      const error = "err" in fields ? fields.err : null;
      // A database that is away is no bug, wherever it is met.
      if (!(error instanceof server.Problem)) options.onBug(`${message}: ${describe(error)}`);
    },
  };
  const engine = server.createEngine({
    databases,
    outgoing: server.createOutgoing({
      caller: { ...options.caller, callUnwiped: noVault },
      vault: { resolve: noVault, openText: noVault },
      signingSecrets: () => [],
      publicUrl: () => "https://bellhop.example",
      nowMs: process.time.nowMs,
    }),
    json: { lookUp: (_teamId, text, paths, keepBytes) => server.lookUp(text, paths, keepBytes) },
    log,
    name: `node ${process.node} ${process.pid}`,
    capacity: CAPACITY,
    retentionDays: 30,
    findBudgets: server.createBudgetLookup(databases.chores, server.createLimitsOf()),
    resultLimitBytes: 65_536,
    changes,
    settleDelivery: async () => {},
    composeMessage: async (teamId, taskId, endedAt) => {
      const task = await server.findTask(databases.api, { teamId, environment: "live" }, taskId);
      if (task?.completedAt?.getTime() !== endedAt.getTime()) return null;
      return { task: taskId, body: JSON.stringify({ status: task.status }) };
    },
    time: process.time,
    random: options.random,
  });
  const bulks = server.createBulkWorker({
    database: databases.chores,
    changes,
    reopening: async () => null,
    follow: engine.follow,
  });
  engine.actors.add({
    name: "bulks",
    once: bulks.workOnce,
    cost: { rows: 100, bytes: 0, per: "team", turns: "each" },
  });
  const schedules = server.createScheduleRunner({
    database: databases.api,
    accept: async () => ({ task: options.nextScheduled(), finish: noVault }),
    termsOf: async (teamIds) =>
      new Map(teamIds.map((teamId) => [teamId, { teamId, plan: "enterprise", limits: UNBOUNDED }])),
    changes,
    // The turns of the server have a clock of their own.
    inTurns: async (_teamId, items, work) => items.map(work),
  });
  engine.actors.add({
    name: "scheduler",
    once: schedules.fireOnce,
    cost: { rows: 300, bytes: 2 ** 20, turns: "in turn" },
  });
  return engine;
}

/** What a simulated reader is told: a line of JSON for each event. */
export interface ToldLine {
  readonly id: string;
  readonly type: string;
  readonly taskId: string | null;
}

const LINES: EventWords = {
  ready: (id) => lineOf({ id, type: "ready", taskId: null }),
  reset: (id) => lineOf({ id, type: "reset", taskId: null }),
  event(event) {
    const { xid, seq, index, atMs } = event.position;
    const taskId = "gone" in event ? event.gone.id : "task" in event ? event.task.id : null;
    return lineOf({ id: `${xid}-${seq}-${index}-${Math.trunc(atMs)}`, type: event.type, taskId });
  },
};

function lineOf(line: ToldLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** The streams of one process. */
export function createNodeEvents(server: Server, process: Process, api: Database): EventFeed {
  const serializer = server.createEventSerializer(api, LINES);
  return server.createEventFeed({ sql: api, time: process.time, words: LINES, serializer });
}

/** What a process does with requests that have a deduplication key. */
export function createNodeDeduplication(
  server: Server,
  process: Process,
  database: Database,
  changes: TaskChanges,
): Deduplication {
  return server.createDeduplication({ database, newCallback: noVault, changes, soon: process.time.soon });
}

/** Put together as `compose-services.ts` does, as far as a task that is there needs it. */
export function createNodeTasks(server: Server, { databases, engine, changes }: SimulatedNode): TaskService {
  return server.createTaskService({
    database: databases.api,
    submit: engine.submit,
    storageQuota: { admit: () => undefined, reopen: () => undefined, store: () => undefined },
    vault: { isOpen: false, check: unasked, refuseMentions: unasked, sealText: unasked, openText: unasked },
    providers: { find: unasked },
    publicUrl: unasked,
    changes,
    follow: engine.follow,
    onResent: engine.notificationDue,
  });
}

function unasked(): never {
  throw new Error("A task that is there needs none of this");
}

export function noVault(): never {
  throw new Error("Nothing here asks for the vault");
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
