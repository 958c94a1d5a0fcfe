import type pg from "pg";
import type { DeliverMail, SendMail } from "../src/domain/identity/mail.ts";
import type { Principal, Requester } from "../src/domain/identity/principal.ts";
import type { QueueSettings } from "../src/domain/queue.ts";
import type { Task } from "../src/domain/task.ts";
import type { TaskRequest } from "../src/domain/task-copies.ts";
import type { Time } from "../src/domain/time.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { EngineDatabases } from "../src/engine/engine-databases.ts";
import { type AddressGuard, allowAll } from "../src/outbound/address-guard.ts";
import { createCaller } from "../src/outbound/caller.ts";
import type { Lookup } from "../src/outbound/name-resolver.ts";
import { createListener, type Listener } from "../src/postgres/listener.ts";
import type { Services } from "../src/server/compose-node.ts";
import { composeNode } from "../src/server/compose-node.ts";
import { systemTime } from "../src/server/system-time.ts";
import { ensureOperator } from "../src/service/operator/operator.ts";
import type { CallbackService } from "../src/service/tasks/callback-service.ts";
import { createProviderService } from "../src/service/tasks/provider-service.ts";
import type { QueueService } from "../src/service/tasks/queue-service.ts";
import type { TaskService } from "../src/service/tasks/task-service.ts";
import type { SigningSecretService } from "../src/service/vault/signing-secret-service.ts";
import { insertTeam } from "../src/store/identity/teams.ts";
import { CHANNEL, hintText } from "../src/store/tasks/hints.ts";
import { parseKeyRing } from "../src/vault/key-ring.ts";
import type { Vault } from "../src/vault/vault.ts";
import { inTime, until } from "./patience.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";
import { principalOf } from "./test-principal.ts";
import { type TextDatabase, type WatchedDatabase, watchDatabase } from "./test-sql.ts";
import { startTestTarget, type TestTarget } from "./test-target.ts";

export const QUEUE = "errands";

/** One node of the server: an engine and the services in front of it, with its actors only moving when told to. */
export interface TestNode {
  readonly engine: Engine;
  /** What the engine asks. */
  readonly databases: Readonly<Record<keyof EngineDatabases, WatchedDatabase>>;
  /** What the services ask for requests. */
  readonly requests: WatchedDatabase;
  readonly services: Services;
  readonly tasks: TaskService;
  readonly queues: QueueService;
  readonly vault: Vault;
  readonly callbacks: CallbackService;
  readonly signingSecrets: SigningSecretService;
  /** What this node was told on the channel. */
  readonly receivedHints: readonly string[];
  /** Resolves once it was told this. */
  receives(message: string): Promise<void>;
  submit(request?: Partial<TaskRequest>, principal?: Principal): Promise<string>;
  /** Looks for due tasks and starts their calls, without waiting for any of them to end. */
  look(): Promise<void>;
  /** Looks for due tasks, makes their calls and settles them, until nothing more is due. */
  dispatchOnce(): Promise<void>;
  /** As if its process had been frozen for this long: its own clock has gone on, its timers have not. */
  freeze(seconds: number): void;
  /** Resolves once it does nothing more of its own accord. Calls may still be under way. */
  rest(): Promise<void>;
  /** Gives what it holds back, without waiting for its calls. */
  stop(): Promise<void>;
}

export interface TestServer extends TestNode {
  readonly database: TextDatabase;
  readonly connection: pg.ClientConfig;
  readonly principal: Requester;
  readonly target: TestTarget;
  readonly log: { readonly fields: Record<string, unknown>; readonly message: string }[];
  openNode(): Promise<TestNode>;
  /** Another team, with a queue of the same name as the server's own. */
  openTeam(queueSettings?: Partial<QueueSettings>): Promise<Requester>;
  task(id: string): Promise<Task>;
  /** Lets time pass, as far as the database can tell: every instant that is waited for moves closer. */
  advance(seconds: number): Promise<void>;
  /** Every worker is taken for dead by this node's reaper, and what they held goes back. */
  reapEverything(): Promise<void>;
  /** Resolves once so many attempts have been settled in all, on whatever node. */
  settled(count: number): Promise<void>;
  /** Resolves once every node has received every hint that was sent before, and has done what follows from it. */
  quiet(): Promise<void>;
  /** As `dispatchOnce`, on every node: a hint may let another node make the calls. */
  dispatchEverywhere(): Promise<void>;
  close(): Promise<void>;
}

/** What the egress policy of these tests says of every host called `private.…`. */
export const PRIVATE_RULE = "must not point to a private or reserved address";
export const refusePrivate = (url: string) => (url.includes("//private.") ? PRIVATE_RULE : null);

export interface TestServerOptions {
  readonly guard?: AddressGuard;
  readonly lookup?: Lookup;
  /** Calls in flight per node. */
  readonly capacity?: number;
  readonly random?: () => number;
  /** How much of an answer is kept. */
  readonly resultLimitBytes?: number;
  readonly sendMail?: SendMail;
  /** Left out: there is no mail server. */
  readonly deliverMail?: DeliverMail;
  /** Left out: the machine's. */
  readonly time?: Time;
}

export async function openTestServer(
  queueSettings: Partial<QueueSettings> = {},
  options: TestServerOptions = {},
): Promise<TestServer> {
  const test = await createTestDatabase();
  const target = await startTestTarget();
  const { teamId } = await ensureOperator(test.database, null);
  const principal = principalOf(teamId);
  const log: TestServer["log"] = [];
  const nodes: TestNode[] = [];
  const openNode = async () => {
    const node = await startNode({ test, log, options, principal, target });
    nodes.push(node);
    return node;
  };
  const node = await openNode();
  /** Resolves once every node has received the hint of the creation: it cannot reach a node in the middle of the test. */
  const createQueue = async (owner: Requester, settings: Partial<QueueSettings>) => {
    await node.queues.create(owner, QUEUE, settings);
    for (const each of nodes) {
      await each.receives(hintText({ kind: "queue", teamId: owner.teamId, queue: QUEUE }, 0));
      await idle(each);
    }
  };
  await createQueue(principal, queueSettings);

  return {
    ...node,
    database: test.database,
    connection: test.connection,
    principal,
    target,
    log,
    openNode,
    async openTeam(settings = {}) {
      const other = await insertTeam(test.database, "Guests", "free");
      const guest = principalOf(other);
      await createQueue(guest, settings);
      return guest;
    },
    task: (id) => node.tasks.get(principal, id),
    async advance(seconds) {
      await test.database.rows(
        `with moved as (
           update tasks set run_at = run_at - make_interval(secs => $1),
                            due_at = due_at - make_interval(secs => $1),
                            flow_due_at = case when flow_due_at = run_at then flow_due_at - make_interval(secs => $1) else flow_due_at end,
                            poll_at = poll_at - make_interval(secs => $1),
                            deadline_at = deadline_at - make_interval(secs => $1)
            where status in ('pending', 'waiting', 'polling')
         ), waited as (
           update notifications set next_at = next_at - make_interval(secs => $1)
         ), undelivered as (
           update webhook_deliveries set next_at = next_at - make_interval(secs => $1)
         ), scheduled as (
           update schedules set next_run_at = next_run_at - make_interval(secs => $1)
         ), permitted as (
           update flow_permits set at = at - make_interval(secs => $1)
         ), begun as (
           update queue_permits set at = at - make_interval(secs => $1)
         ), unconfirmed as (
           update flow_holds set permit_at = permit_at - make_interval(secs => $1)
         ), unpaused as (
           update flows set paused_until = paused_until - make_interval(secs => $1), used_at = used_at - make_interval(secs => $1)
         ), cooled as (
           update breakers set until = until - make_interval(secs => $1), opened_at = opened_at - make_interval(secs => $1)
         ), passed as (
           update breaker_tasks set passed_at = passed_at - make_interval(secs => $1), due_at = due_at - make_interval(secs => $1)
         ), attempted as (
           update breaker_counts set at = at - make_interval(secs => $1)
         ), joining as (
           update line_tasks set created_at = created_at - make_interval(secs => $1) where retries < 0
         ), counted as (
           update source_hits set hits = array(select hit - make_interval(secs => $1) from unnest(hits) hit)
         )
         update workers set expires_at = expires_at - make_interval(secs => $1)`,
        [seconds],
      );
    },
    async reapEverything() {
      // The first round only learns what time it is.
      await node.engine.reaper.reapOnce();
      await test.database.rows("update workers set expires_at = now() - interval '1 second'");
      await node.engine.reaper.reapOnce();
    },
    settled: (count) =>
      until(() => log.filter(({ message }) => message === "attempt.settled").length >= count, {
        what: () => `${count} settled attempts in the log: ${JSON.stringify(log.slice(-20))}`,
      }),
    quiet: () => quiet(test, nodes),
    async dispatchEverywhere() {
      do {
        for (const each of nodes) await each.dispatchOnce();
        // A node may claim by a hint of one that came after it.
        await quiet(test, nodes);
      } while (nodes.some(({ engine }) => engine.attempts.count > 0));
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
    retryDelaySeconds: null,
    retryMaxDelaySeconds: null,
    noRetryStatuses: null,
    expiresInSeconds: null,
    timeoutSeconds: null,
    provider: null,
    pollConfig: null,
    waitForCallback: false,
    maxWaitSeconds: 3600,
    simulate: null,
    onCompleteUrl: null,
    bodyIsJson: false,
    message: null,
    sign: false,
    tags: null,
    metadata: null,
    flow: null,
    onFailureUrl: null,
    dedupe: null,
    idempotencyKey: null,
    requestText: "",
    bareText: null,
  };
}

/** A call by name would ask a name server, and what it is asked leaves this machine. */
async function refuseName(hostname: string): Promise<never> {
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
}

/** So many rounds of hints answering hints are a storm. */
const STORM = 30;
let marks = 0;

async function quiet(test: TestDatabase, nodes: readonly TestNode[]): Promise<void> {
  for (let round = 0; round < STORM; round += 1) {
    const before = activity(nodes);
    // The hints of statements that are under way precede the mark only if the statements end before it.
    for (const node of nodes) await idle(node);
    marks += 1;
    const mark = `mark-${marks}`;
    await test.database.rows("select pg_notify($1, $2)", [CHANNEL, mark]);
    for (const node of nodes) {
      await node.receives(mark);
      await node.engine.dispatcher.dispatchOnce();
      await idle(node);
    }
    if (activity(nodes) === before) return;
  }
  throw new Error("The nodes do not come to rest: each hint is answered by another");
}

async function idle(node: TestNode): Promise<void> {
  for (const database of Object.values(node.databases)) await database.idle();
}

/** Rises with everything that happens, but for the marks and what asking causes. */
function activity(nodes: readonly TestNode[]): number {
  let total = 0;
  for (const { receivedHints, databases } of nodes) {
    total += receivedHints.filter((message) => !message.startsWith("mark-")).length;
    total += databases.claim.begun + databases.chores.begun;
  }
  return total;
}

async function startNode(server: {
  readonly test: TestDatabase;
  readonly log: TestServer["log"];
  readonly options: TestServerOptions;
  readonly principal: Requester;
  readonly target: TestTarget;
}): Promise<TestNode> {
  const { test, log, options } = server;
  const { resultLimitBytes = 1_048_576, time = systemTime } = options;
  const caller = createCaller({
    userAgent: "Bellhop/test",
    guard: options.guard ?? allowAll,
    lookup: options.lookup ?? refuseName,
    maxResponseBytes: resultLimitBytes,
  });
  const note = (fields: object, message: string) => {
    log.push({ fields: { ...fields }, message });
  };
  const databases = {
    lease: watchDatabase(test.open(1)),
    intake: watchDatabase(test.open(1)),
    settle: watchDatabase(test.open(3)),
    claim: watchDatabase(test.open(2)),
    chores: watchDatabase(test.open(2)),
    polls: watchDatabase(test.open(2)),
  };
  const requests = watchDatabase(test.database);
  let frozenMs = 0;
  const renewals = createRenewals(databases.lease);
  const { engine, vault, services } = composeNode({
    databases: { ...databases, lease: renewals.database, api: requests },
    caller,
    refuseUrl: refusePrivate,
    sendMail: options.sendMail ?? (() => {}),
    deliverMail: options.deliverMail ?? null,
    providers: createProviderService(null),
    keyRing: parseKeyRing(`test:${Buffer.alloc(32, 7).toString("base64")}`),
    sessionKeys: [],
    signUp: "open",
    sendsLinks: true,
    publicUrl: () => "https://bellhop.test",
    name: "test",
    role: "all",
    embedded: false,
    capacity: options.capacity ?? 1000,
    retentionDays: 30,
    resultLimitBytes,
    log: { debug: note, info: note, warn: note, error: note },
    time: { ...time, monotonicMs: () => time.monotonicMs() + frozenMs },
    random: options.random ?? (() => 0),
  });
  await engine.lease.start();
  await databases.lease.idle();
  engine.lease.renewOnce = renewals.bidden(engine.lease.renewOnce);
  const receivedHints: string[] = [];
  const onHint: (() => void)[] = [];
  const listener = await new Promise<Listener>((resolve) => {
    const opened = createListener({
      connection: test.connection,
      channel: CHANNEL,
      onMessage(message) {
        receivedHints.push(message);
        engine.hear(message);
        for (const wake of onHint.splice(0)) wake();
      },
      onConnected: () => resolve(opened),
    });
  });
  const { tasks, queues, callbacks, signingSecrets } = services;
  let stopped: Promise<void> | null = null;
  const look = async () => {
    engine.alarm.lookEverywhere();
    await engine.alarm.ringOnce();
    engine.flowAlarm.lookEverywhere();
    await engine.flowAlarm.ringOnce();
    await engine.dispatcher.dispatchOnce();
  };
  return {
    engine,
    databases,
    requests,
    services,
    tasks,
    queues,
    vault,
    callbacks,
    signingSecrets,
    receivedHints,
    async receives(message) {
      while (stopped === null && !receivedHints.includes(message)) {
        const next = new Promise<void>((resolve) => onHint.push(resolve));
        await inTime(next, () => `the hint ${message}`);
      }
    },
    async submit(request = {}, principal = server.principal) {
      const created = await tasks.create(principal, { ...plainRequest(server.target.url), ...request });
      return created.id;
    },
    look,
    async dispatchOnce() {
      await look();
      do {
        await engine.attempts.finished();
        await engine.dispatcher.dispatchOnce();
      } while (engine.attempts.count > 0);
    },
    freeze(seconds) {
      frozenMs += seconds * 1000;
    },
    async rest() {
      const begun = () => Object.values(databases).reduce((sum, database) => sum + database.begun, 0);
      for (let before = -1; before !== begun(); ) {
        before = begun();
        for (const database of Object.values(databases)) await database.idle();
        for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      }
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

/**
 * A node renews its lease every few seconds, whatever a test does meanwhile. It then keeps its lease, but learns nothing: not of
 * other nodes, to which it would send hints from then on, nor that the test has removed its worker or let its lease run out. It
 * learns of them when the test bids it to renew.
 */
function createRenewals(database: TextDatabase): {
  readonly database: TextDatabase;
  bidden(renewOnce: () => Promise<number>): () => Promise<number>;
} {
  let isBidden = true;
  let known: never[] = [];
  return {
    database: {
      transaction: database.transaction,
      async rows(query, values) {
        const isRenewal = typeof query !== "string" && query.name === "renew_worker";
        if (isRenewal && !isBidden) {
          await database.rows(
            `update workers set expires_at = clock_timestamp() + make_interval(secs => $2 / 1000.0)
              where id = $1 and expires_at > clock_timestamp()`,
            values,
          );
          return known;
        }
        const rows = await database.rows<never>(query, values);
        if (isRenewal && rows.length > 0) known = rows;
        return rows;
      },
    },
    bidden(renewOnce) {
      isBidden = false;
      return () => {
        isBidden = true;
        const renewed = renewOnce();
        isBidden = false;
        return renewed;
      };
    },
  };
}
