import { notificationText } from "../api/tasks/notification-view.ts";
import { publicTaskId } from "../domain/task-id.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { createFrontDesk, type FrontDesk } from "../engine/front-desk.ts";
import { createOutgoing } from "../engine/outgoing.ts";
import { COUNTER_COST } from "../engine/queue-counters.ts";
import { LEAN, MIB } from "../engine/round-cost.ts";
import { allFeatures, createFeatures, type Features } from "../features/features.ts";
import { createMessageCalls } from "../features/qstash/index.ts";
import { createDeliverySettlement } from "../features/webhooks/index.ts";
import { turnSessionKeys } from "../service/access/session-keys.ts";
import { createBudgetLookup } from "../service/access/team-budgets.ts";
import { createNodeHeartbeat, type NodeHeartbeat } from "../service/node-heartbeat.ts";
import { REMOVED_TOGETHER, removeOldRecords } from "../service/retention.ts";
import { watchDatabaseHealth } from "../store/database-health.ts";
import { findTask } from "../store/tasks/task-reads.ts";
import { createRotation, ROTATED_TOGETHER } from "../vault/rotation.ts";
import { createTokenUses } from "../vault/token-uses.ts";
import type { Vault } from "../vault/vault.ts";
import { VERSION } from "../version.ts";
import { composeBasis, type NodeDeps } from "./compose-basis.ts";
import { type CoreServices, composeServices } from "./compose-services.ts";

export type Services = CoreServices & { readonly features: Features };

export interface BellhopNode<Work extends FrontDesk | Engine> {
  readonly engine: Work;
  readonly vault: Vault;
  readonly services: Services;
  readonly heartbeat: NodeHeartbeat;
  /** Writes the counters kept in memory, after the stop. */
  readonly writeLast: () => Promise<unknown>;
}

/** A node that serves the API and makes no calls. Nothing runs yet, as below. */
export function composeApiNode(deps: NodeDeps): BellhopNode<FrontDesk> {
  const { databases, log, time } = deps;
  const basis = composeBasis(deps);
  const intake = watchDatabaseHealth(databases.intake, time.monotonicMs);
  const engine = createFrontDesk({
    databases: { intake: intake.database, chores: databases.chores },
    // A random number: two nodes with the same one would only wait for each other now and then.
    number: -1 - Math.floor(deps.random() * 2 ** 48),
    log,
    meter: basis.meter,
    changes: basis.changes,
    time,
  });
  const heartbeat = addNodeHeartbeat(deps, basis, engine, null);
  addDiskMonitor(basis, engine);
  addCounters(basis, engine);
  const parts = { ...basis, engine, isDispatching: null, databaseHealth: { intake } };
  return {
    engine,
    vault: basis.vault,
    services: withFeatures(deps, parts),
    heartbeat,
    writeLast: basis.counters.writeLast,
  };
}

/** Builds one node. Nothing runs yet: `engine.start` starts it, and the API must be opened. */
export function composeNode(deps: NodeDeps): BellhopNode<Engine> {
  const { databases, keyRing, time } = deps;
  const database = databases.api;
  const basis = composeBasis(deps);
  const { vault, signingSecrets, metrics, limitsOf } = basis;
  const databaseHealth = {
    intake: watchDatabaseHealth(databases.intake, time.monotonicMs),
    claims: watchDatabaseHealth(databases.claim, time.monotonicMs),
    settlements: watchDatabaseHealth(databases.settle, time.monotonicMs),
  };
  const tokenUses = createTokenUses({ sql: databases.chores, time });
  const engine = createEngine({
    databases: {
      ...databases,
      intake: databaseHealth.intake.database,
      claim: databaseHealth.claims.database,
      settle: databaseHealth.settlements.database,
    },
    meter: basis.meter,
    outgoing: createOutgoing({
      caller: deps.caller,
      vault,
      onTokenUse: tokenUses.note,
      signingSecrets: signingSecrets.secretsFor,
      publicUrl: deps.publicUrl,
      nowMs: time.nowMs,
    }),
    json: basis.json,
    traceCalls: deps.tracing?.ofCalls,
    log: deps.log,
    name: deps.name,
    capacity: deps.capacity,
    findBudgets: createBudgetLookup(databases.chores, limitsOf),
    retentionDays: deps.retentionDays,
    resultLimitBytes: deps.resultLimitBytes,
    changes: basis.changes,
    hasRoom: basis.storageQuota.hasRoom,
    messages: createMessageCalls({ keys: basis.messageKeys, log: deps.log, nowMs: time.nowMs }),
    settleDelivery: createDeliverySettlement({ database: databases.chores }),
    composeMessage: async (teamId, taskId, endedAt) => {
      const task = await findTask(database, { teamId, environment: "live" }, taskId);
      if (task?.completedAt?.getTime() !== endedAt.getTime()) return null;
      return { task: publicTaskId(task), body: notificationText(task) };
    },
    time,
    random: deps.random,
  });
  metrics.watchCalls(() => engine.attempts.count, deps.capacity);
  // The operator replaces configured keys.
  if (deps.sessionKeys.length === 0) {
    engine.actors.add({
      name: "session-keys",
      once: () => turnSessionKeys(database),
      cost: { rows: 10, bytes: 10 * LEAN, turns: "none" },
    });
  }
  if (keyRing !== null) {
    engine.actors.add({
      name: "vault-rotation",
      once: createRotation({ sql: database, keyRing }).turnOnce,
      cost: { rows: ROTATED_TOGETHER, bytes: ROTATED_TOGETHER * MIB, turns: "oldest first" },
    });
    engine.actors.add({
      name: "vault-uses",
      once: tokenUses.writeOnce,
      cost: { rows: 1, bytes: LEAN, per: "token", turns: "each" },
    });
  }
  const heartbeat = addNodeHeartbeat(deps, basis, engine, engine);
  addDiskMonitor(basis, engine);
  addCounters(basis, engine);
  const isDispatching = engine.lease.isHeld;
  const services = withFeatures(deps, { ...basis, engine, isDispatching, databaseHealth });
  const features = allFeatures(services.features);
  for (const actor of features.flatMap(({ actors = [] }) => actors)) engine.actors.add(actor);
  const retention = features.flatMap((feature) => feature.retention ?? []);
  engine.actors.add({
    name: "retention",
    once: () => removeOldRecords(database, retention),
    cost: { rows: REMOVED_TOGETHER, bytes: REMOVED_TOGETHER * LEAN, turns: "oldest first" },
  });
  const writeLast = () => Promise.all([basis.counters.writeLast(), tokenUses.writeLast()]);
  return { engine, vault, services, heartbeat, writeLast };
}

function withFeatures(deps: NodeDeps, parts: Parameters<typeof composeServices>[1]): Services {
  const core = composeServices(deps, parts);
  return { ...core, features: createFeatures({ ...deps, ...core, actors: parts.engine.actors }) };
}

function addNodeHeartbeat(
  deps: NodeDeps,
  { loop }: ReturnType<typeof composeBasis>,
  { actors }: FrontDesk | Engine,
  caller: Engine | null,
): NodeHeartbeat {
  const heartbeat = createNodeHeartbeat({
    sql: deps.databases.api,
    name: deps.name,
    role: deps.role,
    version: VERSION,
    maxInFlight: caller === null ? 0 : deps.capacity,
    workerId: () => caller?.lease.workerId ?? null,
    callsInFlight: () => caller?.attempts.count ?? 0,
    takeLoopLagMs: loop.takeLongestLateMs,
    nowMs: deps.time.nowMs,
  });
  actors.add({ name: "heartbeat", once: heartbeat.beatOnce, cost: { rows: 1, bytes: LEAN, turns: "none" } });
  return heartbeat;
}

function addCounters({ counters }: ReturnType<typeof composeBasis>, { actors }: FrontDesk | Engine): void {
  actors.add({ name: "queue-stats", once: counters.writeOnce, cost: COUNTER_COST });
}

function addDiskMonitor({ space }: ReturnType<typeof composeBasis>, { actors }: FrontDesk | Engine): void {
  if (space !== null)
    actors.add({ name: "space", once: space.lookOnce, cost: { rows: 0, bytes: LEAN, turns: "none" } });
}
