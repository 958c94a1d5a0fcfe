import pg from "pg";
import type { Principal } from "../src/domain/principal.ts";
import type { QueueSettings } from "../src/domain/queue.ts";
import type { Task } from "../src/domain/task.ts";
import { createEngine, type Engine } from "../src/engine/engine.ts";
import { allowAll } from "../src/outbound/address-guard.ts";
import { createCaller } from "../src/outbound/caller.ts";
import { createListener, type Listener } from "../src/postgres/listener.ts";
import { ensureOperator } from "../src/service/operator.ts";
import { createQueueService, type QueueService } from "../src/service/queue-service.ts";
import { createTaskService, type TaskRequest, type TaskService } from "../src/service/task-service.ts";
import { CHANNEL } from "../src/store/hints.ts";
import type { Database } from "../src/store/sql.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";
import { startTestTarget, type TestTarget } from "./test-target.ts";

export const QUEUE = "errands";

/** One node of the house: an engine and the services in front of it, with its actors only moving when told to. */
export interface TestNode {
  readonly engine: Engine;
  readonly tasks: TaskService;
  readonly queues: QueueService;
  /** Looks for due tasks, makes their calls and settles them, until nothing more is due. */
  dispatchOnce(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestHouse extends TestNode {
  readonly database: Database;
  readonly principal: Principal;
  readonly target: TestTarget;
  readonly log: { readonly fields: object; readonly message: string }[];
  openNode(): Promise<TestNode>;
  submit(request?: Partial<TaskRequest>): Promise<string>;
  task(id: string): Promise<Task>;
  /** Lets time pass, as far as the database can tell: every instant that is waited for moves closer. */
  advance(seconds: number): Promise<void>;
  close(): Promise<void>;
}

export async function openTestHouse(queueSettings: Partial<QueueSettings> = {}): Promise<TestHouse> {
  const test = await createTestDatabase();
  const target = await startTestTarget();
  const { teamId } = await ensureOperator(test.database, null);
  const principal: Principal = { teamId, keyId: "key", environment: "live" };
  const log: { fields: object; message: string }[] = [];
  const nodes: TestNode[] = [];
  const openNode = async () => {
    const node = await startNode(test, log);
    nodes.push(node);
    return node;
  };
  const node = await openNode();
  await node.queues.create(principal, QUEUE, queueSettings);

  return {
    ...node,
    database: test.database,
    principal,
    target,
    log,
    openNode,
    async submit(request = {}) {
      const created = await node.tasks.create(principal, { ...plainRequest(target.url), ...request });
      return created.id;
    },
    task: (id) => node.tasks.get(principal, id),
    async advance(seconds) {
      await test.database.rows(
        `with moved as (update tasks set run_at = run_at - make_interval(secs => $1) where status = 'pending')
         update workers set expires_at = expires_at - make_interval(secs => $1)`,
        [seconds],
      );
    },
    async close() {
      for (const each of nodes) await each.stop();
      await target.close();
      await test.drop();
    },
  };
}

export function plainRequest(url: string): TaskRequest {
  return {
    shape: "queue",
    queue: QUEUE,
    call: { method: "POST", url, headers: {}, body: "{}" },
    priority: 5,
    delaySeconds: 0,
    runAt: null,
    maxRetries: null,
    backoff: null,
    timeoutSeconds: null,
  };
}

async function startNode(test: TestDatabase, log: { fields: object; message: string }[]): Promise<TestNode> {
  const caller = createCaller({ userAgent: "Bellhop/test", guard: allowAll });
  const note = (fields: object, message: string) => {
    log.push({ fields, message });
  };
  const engine = createEngine({
    databases: {
      lease: test.open(1),
      intake: test.open(1),
      settle: test.open(2),
      claim: test.open(2),
      chores: test.open(2),
    },
    caller,
    log: { debug: note, info: note, warn: note, error: note },
    name: "test",
    capacity: 1000,
    retentionDays: 30,
    ownHeaders: () => ({}),
    monotonicMs: () => performance.now(),
    random: () => 0,
  });
  await engine.lease.start();
  const listener = await new Promise<Listener>((resolve) => {
    const opened = createListener({
      connect: () => new pg.Client(test.connection),
      channel: CHANNEL,
      onMessage: engine.hear,
      onConnected: () => resolve(opened),
    });
  });
  const nodeId = () => engine.lease.workerId;
  let stopped: Promise<void> | null = null;
  return {
    engine,
    tasks: createTaskService({ sql: test.database, nodeId, submit: engine.submit }),
    queues: createQueueService({ database: test.database, nodeId }),
    async dispatchOnce() {
      engine.alarm.lookEverywhere();
      await engine.alarm.ringOnce();
      await engine.dispatcher.dispatchOnce();
      await engine.attempts.finished();
      await engine.dispatcher.dispatchOnce();
    },
    stop() {
      stopped ??= (async () => {
        await listener.stop();
        await engine.stop(0);
        await caller.stop();
      })();
      return stopped;
    },
  };
}
