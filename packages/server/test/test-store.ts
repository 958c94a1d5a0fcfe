import pg from "pg";
import type { Claim } from "../src/domain/claim.ts";
import { QUEUE_DEFAULTS, type QueueSettings } from "../src/domain/queue.ts";
import type { Reach } from "../src/domain/reach.ts";
import type { Settlement } from "../src/domain/settlement.ts";
import { type NewTask, NO_FOLLOW_UP, TASK_STATUSES, type TaskStatus } from "../src/domain/task.ts";
import type { TaskFilter } from "../src/domain/task-filter.ts";
import type { Verdict } from "../src/domain/verdict.ts";
import { newUuid } from "../src/service/new-uuid.ts";
import { insertTeam } from "../src/store/identity/teams.ts";
import { insertQueue } from "../src/store/tasks/queues.ts";
import { type ClaimRequest, claimDueTasks } from "../src/store/tasks/task-claims.ts";
import { insertTasks } from "../src/store/tasks/task-intake.ts";
import { registerWorker } from "../src/store/tasks/workers.ts";
import { createTestDatabase } from "./test-database.ts";
import type { TextDatabase, TextSql } from "./test-sql.ts";

export interface StoredQueue {
  readonly teamId: number;
  readonly id: number;
  readonly name: string;
}

/** The store without anything above it: statements on a database of the test's own. */
export interface TestStore {
  readonly database: TextDatabase;
  open(max: number): TextDatabase;
  openTeam(): Promise<number>;
  /** A queue with a name of its own, so that tests can share a database. */
  openQueue(settings?: Partial<QueueSettings>, teamId?: number): Promise<StoredQueue>;
  openWorker(ttlMs?: number): Promise<number>;
  insert(queue: StoredQueue, ...tasks: readonly Partial<NewTask>[]): Promise<string[]>;
  claim(
    queue: StoredQueue,
    request: Pick<ClaimRequest, "workerId"> & Partial<ClaimRequest>,
  ): Promise<Claim[]>;
  close(): Promise<void>;
}

export async function openTestStore(): Promise<TestStore> {
  const test = await createTestDatabase();
  const { database } = test;
  const openTeam = () => insertTeam(database, "Team", "free");
  const ownTeam = await openTeam();
  let queues = 0;

  return {
    database,
    open: test.open,
    openTeam,
    async openQueue(settings = {}, teamId = ownTeam) {
      queues += 1;
      const name = `queue-${queues}`;
      const queue = await insertQueue(database, teamId, name, { ...QUEUE_DEFAULTS, ...settings });
      return { teamId, id: queue?.id ?? 0, name };
    },
    openWorker: (ttlMs = 60_000) => registerWorker(database, "test", ttlMs),
    async insert(queue, ...tasks) {
      const submissions = tasks.map((task) => ({ task: { ...newTask(queue), ...task }, reservation: null }));
      await insertTasks(database, submissions, 0);
      return submissions.map(({ task }) => task.id);
    },
    async claim(queue, request) {
      const { claims } = await claimDueTasks(database, await claimRequest(database, queue, request));
      return [...claims];
    },
    async close() {
      await test.drop();
    },
  };
}

export function newTask(queue: StoredQueue): NewTask {
  return {
    teamId: queue.teamId,
    id: newUuid(),
    shape: "queue",
    queue: queue.name,
    call: { method: "POST", url: "http://localhost/", headers: {}, body: "{}" },
    priority: 5,
    delaySeconds: 0,
    runAt: null,
    simulate: null,
    maxRetries: null,
    backoff: null,
    retryDelaySeconds: null,
    retryMaxDelaySeconds: null,
    noRetryStatuses: null,
    expiresInSeconds: null,
    timeoutSeconds: null,
    follow: NO_FOLLOW_UP,
    onCompleteUrl: null,
    message: null,
    bodyIsJson: false,
    sign: false,
    tags: null,
    metadata: null,
    flow: null,
    onFailureUrl: null,
    dedupe: null,
    callback: null,
    idempotency: null,
    sandbox: false,
  };
}

export async function claimRequest(
  database: TextSql,
  queue: StoredQueue,
  request: Pick<ClaimRequest, "workerId"> & Partial<ClaimRequest>,
): Promise<ClaimRequest> {
  const [row] = await database.rows<{ epoch: number }>("select epoch from queues where id = $1", [queue.id]);
  return {
    teamId: queue.teamId,
    queueId: queue.id,
    queue: queue.name,
    epoch: row?.epoch ?? 0,
    limit: 100,
    ...request,
  };
}

/** What the target's 200 makes of a claim, or another verdict. */
export function settlementOf(claim: Claim, verdict?: Verdict): Settlement {
  const completed: Verdict = {
    kind: "completed",
    result: { statusCode: 200, headers: {}, body: "{}", duration: 5 },
  };
  const success = verdict === undefined || verdict.kind === "completed";
  return {
    claim,
    attempt: {
      number: claim.attempt,
      status: success ? "success" : "failed",
      responseCode: success ? 200 : 500,
      executedAt: claim.attemptStartedAt,
      durationMs: 5,
      phase: "responded",
      error: success ? null : "The target answered 500",
    },
    verdict: verdict ?? completed,
  };
}

export const RETRY: Verdict = { kind: "retry", waitMs: 60_000, error: "The target answered 500" };

/** As every credential but a test key reaches the tasks of a team. */
export const live = (teamId: number): Reach => ({ teamId, environment: "live" });

/** What a list says that says nothing. */
export const ALL_TASKS: TaskFilter = {
  sandbox: false,
  queue: null,
  statuses: null,
  tags: null,
  dismissed: null,
  createdAfter: null,
  createdBefore: null,
  hosts: null,
  provider: null,
  failureReason: null,
  scheduleId: null,
  lastAnswer: null,
  error: null,
  metadata: null,
  id: null,
};

type CountedQueue = Record<TaskStatus, number> & { readonly queue_id: string; readonly sandbox: boolean };

/** What the tallies say and what there is, by queue and environment: they must never differ. */
export async function countBothWays(sql: TextSql): Promise<{ tallied: object; counted: object }> {
  const sums = TASK_STATUSES.map((status) => `sum(${status})::integer as ${status}`).join(", ");
  const counts = TASK_STATUSES.map(
    (status) => `count(*) filter (where status = '${status}')::integer as ${status}`,
  ).join(", ");
  // One statement: what a node changes between two would be counted one way only.
  const rows = await sql.rows<CountedQueue & { readonly way: "tallied" | "counted" }>(
    `select 'tallied' as way, queue_id, sandbox, ${sums} from queue_tallies group by team_id, queue_id, sandbox
     union all
     select 'counted', queue_id, sandbox, ${counts} from tasks group by team_id, queue_id, sandbox`,
  );
  const byQueue = (counting: "tallied" | "counted") =>
    Object.fromEntries(
      rows
        .filter(({ way, ...row }) => way === counting && TASK_STATUSES.some((status) => row[status] !== 0))
        .map(({ queue_id, sandbox, way: _, ...row }): [string, object] => [`${queue_id} ${sandbox}`, row])
        .sort(([a], [b]) => a.localeCompare(b)),
    );
  return { tallied: byQueue("tallied"), counted: byQueue("counted") };
}

export interface Plan {
  /** Most blocks that any part of the plan touched. */
  readonly blocks: number;
  /** The names of the indexes used. */
  readonly indexes: readonly string[];
  /** The tables that were read from beginning to end. */
  readonly scanned: readonly string[];
}

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: PlanNode[];
}

class Undo extends Error {}

/**
 * Runs the statements of `work` for their plans, and undoes them. Generic: as a prepared statement is planned after
 * it was used a few times, without a look at the values.
 */
export async function explain(
  database: TextDatabase,
  mode: "custom" | "generic",
  work: (sql: TextSql) => Promise<unknown>,
): Promise<Plan> {
  const nodes: PlanNode[] = [];
  const undone = database.transaction(async (sql) => {
    await sql.rows(`set local plan_cache_mode = force_${mode}_plan`);
    const explaining: TextSql = {
      async rows(query, values = []) {
        const text = typeof query === "string" ? query : query.text;
        const literals = values.map(toLiteral).join(", ");
        await sql.rows(`prepare probe as ${text}`);
        const [row] = await sql.rows<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
          `explain (analyze, buffers, format json) execute probe${literals === "" ? "" : `(${literals})`}`,
        );
        await sql.rows("deallocate probe");
        if (row !== undefined) collect(row["QUERY PLAN"][0].Plan, nodes);
        return [];
      },
    };
    await work(explaining);
    throw new Undo();
  });
  await undone.catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error;
  });
  return {
    blocks: Math.max(...nodes.map((node) => node["Shared Hit Blocks"] + node["Shared Read Blocks"])),
    indexes: [...new Set(nodes.flatMap((node) => node["Index Name"] ?? []))],
    scanned: nodes.flatMap((node) => (node["Node Type"] === "Seq Scan" ? (node["Relation Name"] ?? []) : [])),
  };
}

function collect(node: PlanNode, nodes: PlanNode[]): void {
  nodes.push(node);
  for (const child of node.Plans ?? []) collect(child, nodes);
}

/** A value as it stands in the text of a statement. */
export function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(toElement).join(",")}}`);
  return pg.escapeLiteral(toText(value));
}

function toElement(value: unknown): string {
  return value === null || value === undefined ? "null" : `"${toText(value).replace(/["\\]/g, "\\$&")}"`;
}

function toText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * Removes the dead rows of tasks, from its indexes too: none is kept for a statement that looks at this database meanwhile,
 * such as one of PostgreSQL's own that makes statistics.
 */
export async function vacuumTasks(sql: TextSql, what: "vacuum" | "vacuum analyze"): Promise<void> {
  for (let isAlone = false; !isAlone; ) {
    const [others] = await sql.rows<{ count: number }>(
      `select count(*)::integer as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null`,
    );
    isAlone = others?.count === 0;
    await sql.rows(`${what} tasks`);
  }
}
