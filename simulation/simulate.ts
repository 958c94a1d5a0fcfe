import { check } from "../chaos/checker/check.ts";
import { recoveredAt } from "../chaos/checker/faults.ts";
import type { History } from "../chaos/checker/history.ts";
import type {
  BulkRow,
  Change,
  DedupeRow,
  NotificationRow,
  QueueRow,
  TaskRow,
} from "../chaos/checker/rows.ts";
import type { Violation } from "../chaos/checker/violation.ts";
import { createRandom } from "../chaos/rig/random.ts";
import type { Dedupe } from "../packages/server/src/domain/dedupe.ts";
import { QUEUE_DEFAULTS } from "../packages/server/src/domain/queue.ts";
import { isEnded } from "../packages/server/src/domain/task.ts";
import { running } from "./model/bulk-statements.ts";
import { createModelDatabase } from "./model/model-database.ts";
import { createModel, type Done, type StatementPlant } from "./model/session.ts";
import type {
  BulkColumns,
  NotificationColumns,
  QueueColumns,
  RowChange,
  Tables,
  TaskColumns,
} from "./model/tables.ts";
import { attemptsOf } from "./model/task-rows.ts";
import type { Server } from "./server.ts";
import { createClients } from "./world/clients.ts";
import { createCluster } from "./world/cluster.ts";
import { STATEMENT_MS } from "./world/connections.ts";
import { createFeatures, drawFeatures, type FeatureName } from "./world/features.ts";
import { QUEUES, SCHEDULED, TEAM } from "./world/new-tasks.ts";
import { drawOrder } from "./world/order.ts";
import { START_OF_TIME_MS } from "./world/process.ts";
import { createReader } from "./world/reader.ts";
import { createRequests } from "./world/requests.ts";
import { createScheduler } from "./world/scheduler.ts";
import { drawRoundTrip, drawWeather, type Weather } from "./world/storm.ts";
import { createTargets } from "./world/target.ts";

const STORM_MS = 18_000;
/** The average delay of a message in one direction. Six statements in a row then take two seconds, so the checker does not judge response times. */
const CRAWLING_MS = 150;
/**
 * Everything ends within this time of the last fault: a lease, a round of every actor, and what was waited for. A queue with a rate may
 * need twice that time: it may make only one call every three seconds.
 */
const CALM_MS = 90_000;
/** Within this time of the last change a reader is told of it: it comes back, and the next look is made. */
const TOLD_MS = 3_000;

export interface Options {
  readonly seed: number;
  readonly server: Server;
  /** A bug of the statements, which the model has in PostgreSQL's place. */
  readonly statementPlant?: StatementPlant | null;
  /** How long a statement may take. */
  readonly statementMs?: number;
  /** Whether tasks have flows; left out: with every third seed. */
  readonly hasFlows?: boolean;
  /** Left out: by the seed. */
  readonly features?: readonly FeatureName[];
  /** How far away the database is; left out: by the seed. */
  readonly roundTripMs?: number;
  /** These too are left to the seed. */
  readonly nodes?: number;
  readonly acts?: number;
  readonly isFollowed?: boolean;
  readonly weather?: Partial<Weather>;
  /** Told of everything that the database is asked to do and does, in this order. */
  readonly onStatement?: (done: Done) => void;
}

export interface Run {
  readonly history: History;
  readonly violations: readonly Violation[];
  /** How often each fault was met. */
  readonly faultsMet: ReadonlyMap<string, number>;
  /** As it is at the end. */
  readonly tables: Tables;
}

/** One run. Whatever happens in it follows from the seed: the same seed is the same run, to the last event. */
export async function simulate(options: Options): Promise<Run> {
  const { seed, server, statementPlant, statementMs, onStatement = () => {} } = options;
  const { hasFlows = seed % 3 === 0, roundTripMs = drawRoundTrip(createRandom(seed ^ 0x1b873593)) } = options;
  const random = createRandom(seed);
  const weather = { ...drawWeather(random, roundTripMs), ...options.weather };
  const scheduler = createScheduler();
  const changes: Change[] = [];
  const targets = createTargets(scheduler, random.fork());
  const model = createModel({
    nowMs: () => START_OF_TIME_MS + scheduler.nowMs,
    plant: statementPlant ?? null,
    onChange: (change) => changes.push(logged(change, changes.length, scheduler.nowMs)),
    onNotify: (payload) => cluster.hint(payload),
  });
  const { nodes = random.between(1, 3) } = options;
  const cluster = createCluster({
    server,
    scheduler,
    random: random.fork(),
    model,
    targets,
    weather,
    nodes,
    statementMs: statementMs ?? STATEMENT_MS,
    onStatement,
  });
  // Drawn apart: the runs without order stay those that they were.
  const orderly = drawOrder(createRandom(seed ^ 0x5bd1e995));
  const requests = createRequests({ server, scheduler, nodeAt: cluster.nodeAt, nodes });
  const clients = createClients({
    server,
    scheduler,
    random: random.fork(),
    requests,
    orderly,
    hasFlows,
  });
  const names = options.features ?? drawFeatures(seed);
  const features = createFeatures(seed, names, {
    server,
    scheduler,
    requests,
    targets,
  });

  const first = { ...QUEUE_DEFAULTS, retryDelaySeconds: 1, timeoutSeconds: 3 };
  const database = createModelDatabase(model, onStatement);
  for (const queue of QUEUES) {
    const settings = { ...first, concurrency: random.between(1, 3) };
    const order = queue === orderly?.queue && orderly.isFirst ? { ordered: true, concurrency: 1 } : {};
    await server.insertQueue(database, TEAM, queue, { ...settings, ...order });
  }
  await server.insertQueue(database, TEAM, SCHEDULED, { ...first, concurrency: 3 });
  for (const feature of features) await feature.prepare(database);
  cluster.startAll();
  // Of the statements on every task's way there are two forms: one for when nobody listens.
  const { isFollowed = random.chance(0.5) } = options;
  const reader = createReader({ scheduler, random: random.fork(), nodeAt: cluster.nodeAt, nodes });
  if (isFollowed) reader.start();
  // Every second there is another task: in each run they would hide the rest.
  const isScheduled = random.chance(0.2);
  if (isScheduled) clients.schedule();
  const { acts = random.between(10, 40) } = options;
  for (let each = 0; each < acts; each += 1) scheduler.after(random.next() * STORM_MS, clients.act);
  // Together, as a burst of work comes.
  const burstMs = random.next() * STORM_MS;
  for (let each = random.between(0, 8); each > 0; each -= 1)
    scheduler.after(burstMs + random.next() * 5, clients.act);
  for (let atMs = 500; atMs < STORM_MS; atMs += weather.everyMs * 2 * random.next() + 1)
    scheduler.after(atMs, cluster.strike);
  const { tasks, notifications } = model.tables;
  let lookedAt = -1;
  const isAtRest = () => {
    // Nothing comes to rest without a change.
    if (lookedAt === changes.length) return false;
    if (features.some(({ isDone }) => !isDone)) return false;
    lookedAt = changes.length;
    return (
      [...tasks.values()].every(({ status }) => isEnded(status)) &&
      [...notifications.values()].every((each) => isTold(each, model.nowMs())) &&
      running(model.tables.bulks).length === 0 &&
      [...model.tables.schedules.values()].every(({ next_run_at }) => next_run_at === null)
    );
  };
  for (const feature of features) feature.storm(STORM_MS);
  await scheduler.run(STORM_MS);
  cluster.heal();
  targets.heal();
  // Until the last process is awake, and has done what it was asked to before: it may be to pause a queue.
  await scheduler.run(Math.max(STORM_MS, cluster.quietAtMs) + 5_000);
  clients.resumeAll();
  clients.unblock();
  if (isScheduled) clients.endSchedules();
  for (const feature of features) feature.calm(recoveredAt(cluster.faults));
  const calmUntilMs = scheduler.nowMs + (names.includes("rates") ? 2 : 1) * CALM_MS;
  // A statement that was under way for long may be carried out while the reader is waited for.
  for (let known = -1; known !== changes.length && scheduler.nowMs < calmUntilMs; ) {
    await scheduler.run(calmUntilMs, isAtRest);
    known = changes.length;
    if (isFollowed) await scheduler.run(scheduler.nowMs + TOLD_MS);
  }
  requests.hangUp();

  const history: History = {
    answers: requests.answers,
    seen: targets.seen,
    changes,
    faults: cluster.faults,
    lives: cluster.lives,
    latencies: [],
    lags: [],
    readers: isFollowed ? [{ teamId: TEAM, readyAt: reader.readyAt, told: reader.told }] : [],
    receivers: [],
    crowded: weather.latencyMs >= CRAWLING_MS ? [{ from: 0, to: STORM_MS }] : [],
    beganAt: 0,
    calmAt: STORM_MS,
    endedAt: scheduler.nowMs,
    rest: {
      at: scheduler.nowMs,
      tasks: [...tasks.values()].map(toTask),
      notifications: [...notifications.values()].map(toNotification),
      records: [],
      undelivered: [],
      stats: [],
      orderedQueueId: features.find(({ rankedQueueId }) => rankedQueueId != null)?.rankedQueueId ?? null,
    },
  };
  const bugs = cluster.bugs.map(
    ({ at, text }): Violation => ({
      promise: "process",
      text: `an engine met a bug: ${text}`,
      taskId: null,
      at,
    }),
  );
  return {
    history,
    tables: model.tables,
    faultsMet: cluster.met,
    violations: [...check(history).filter((found) => isInScope(found, history)), ...bugs],
  };
}

/** Or waits for longer than a run does, after its second try. */
function isTold({ status, attempts, next_at }: NotificationColumns, nowMs: number): boolean {
  return status !== "pending" || (attempts >= 2 && next_at > nowMs);
}

/**
 * Of the API only submissions are held to their 2 s and to a cause for each 503. The other requests, those with a deduplication key
 * among them, are several statements, each with a deadline of its own, and wait for the rows that a transaction of another node has
 * locked.
 */
function isInScope({ promise, text, at, taskId }: Violation, { answers }: History): boolean {
  if (promise !== "answers") return true;
  const isJoining = answers.some(
    (answer) => answer.joins !== undefined && answer.at === at && answer.taskId === taskId,
  );
  return text.startsWith("create ") && !isJoining;
}

function logged(change: RowChange, seq: number, committedAt: number): Change {
  const { relation, op, row } = change;
  const when = { seq, committedAt, op };
  if (relation === "tasks") return { ...when, relation, row: toTask(row) };
  if (relation === "queues") return { ...when, relation, row: toQueue(row) };
  if (relation === "notifications") return { ...when, relation, row: toNotification(row) };
  if (relation === "schedules")
    return { ...when, relation, row: { id: row.id, nextRunAt: sinceStart(row.next_run_at) } };
  if (relation === "schedule_firings") {
    const { schedule_id: scheduleId, task_id: taskId, fires_at } = row;
    return { ...when, relation, row: { scheduleId, taskId, firesAt: sinceStart(fires_at) } };
  }
  if (relation === "breakers") {
    const { queue_id: queueId, host, phase, until } = row;
    return { ...when, relation, row: { queueId, host, phase, until: until - START_OF_TIME_MS } };
  }
  if (relation === "bulks") return { ...when, relation, row: toBulk(row) };
  return { ...when, relation, row: { id: row.id, pid: Number(row.name.split(" ").at(-1)) } };
}

function sinceStart(ms: number | null): number | null {
  return ms === null ? null : ms - START_OF_TIME_MS;
}

function toTask(row: TaskColumns): TaskRow {
  return {
    id: row.id,
    teamId: row.team_id,
    queueId: row.queue_id,
    status: row.status,
    priority: row.priority,
    fence: row.fence,
    workerId: row.worker_id,
    attemptCount: row.attempt_count,
    attempts: attemptsOf(row),
    attemptStartedAt: sinceStart(row.attempt_started_at),
    runAt: row.run_at - START_OF_TIME_MS,
    createdAt: row.created_at - START_OF_TIME_MS,
    deadlineAt: row.deadline_at === null ? null : row.deadline_at - START_OF_TIME_MS,
    hasNotification: row.on_complete_url !== null,
    retries: row.retries,
    idempotencyKey: row.idempotency_key,
    failureReason: row.failure_reason,
    flow: row.flow,
    host: new URL(row.url).host,
    dedupe: row.dedupe && toDedupe(row.dedupe, row.body),
  };
}

function toDedupe({ key, mode, windowSeconds, maxWaitSeconds }: Dedupe, body: string | null): DedupeRow {
  const maxWaitMs = maxWaitSeconds === null ? null : maxWaitSeconds * 1_000;
  const { request } = JSON.parse(body ?? "{}");
  return { key, mode, windowMs: windowSeconds * 1_000, maxWaitMs, request };
}

function toQueue(row: QueueColumns): QueueRow {
  const { id, name, concurrency, paused, ordered, rate, rate_period: ratePeriod } = row;
  const blocks = row.on_failure === "block";
  return {
    id,
    name,
    concurrency,
    paused,
    ordered,
    blocks,
    rate,
    ratePeriod,
    breaker: row.breaker,
    deleted: row.deleted_at !== null,
  };
}

function toBulk({ id, action, status, matched, done, skipped }: BulkColumns): BulkRow {
  return { id, action, status, matched, done, skipped };
}

function toNotification({ id, task_id, status, attempts, next_at }: NotificationColumns): NotificationRow {
  return { id, taskId: task_id, status, attempts, nextAt: next_at - START_OF_TIME_MS };
}
