import { randomInt } from "node:crypto";
import { SERVER_SENT } from "../api/tasks/event-view.ts";
import type { RefuseUrl } from "../domain/call.ts";
import type { DeliverMail, SendMail } from "../domain/identity/mail.ts";
import { createLimitsOf, type PlanLimits } from "../domain/limits.ts";
import type { NodeRole } from "../domain/node-role.ts";
import { anyChange, createTaskChanges } from "../domain/task-changes.ts";
import type { Time } from "../domain/time.ts";
import type { EngineDatabases } from "../engine/engine-databases.ts";
import type { Log } from "../engine/log.ts";
import { countingQueues, createQueueCounters } from "../engine/queue-counters.ts";
import { createJsonGate } from "../json/gate.ts";
import { createJsonPool } from "../json/pool.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { MOST_QUEUES } from "../metrics/queue-metrics.ts";
import type { Caller } from "../outbound/caller.ts";
import type { HitLines } from "../processes/hits.ts";
import { createLoopShare } from "../service/access/loop-share.ts";
import { createStorageQuota } from "../service/storage-quota.ts";
import { createEventDelayReader } from "../service/tasks/event-delay.ts";
import { createEventFeed } from "../service/tasks/event-feed.ts";
import { createEventSerializer, type EventSerializer } from "../service/tasks/event-serializer.ts";
import type { ProviderService } from "../service/tasks/provider-service.ts";
import { createTaskWaits } from "../service/tasks/task-waits.ts";
import { createMessageKeyService } from "../service/vault/message-key-service.ts";
import { createSigningSecretService } from "../service/vault/signing-secret-service.ts";
import type { Database } from "../store/sql.ts";
import { readQueueDepths } from "../store/tasks/queue-depths.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { KeyRing } from "../vault/key-ring.ts";
import { createVault } from "../vault/vault.ts";
import { VERSION } from "../version.ts";
import { composeDiskMonitor, type Space } from "./compose-disk-monitor.ts";

/** The dependencies of a node: connections, outbound calls, time and settings. */
export interface NodeDeps {
  readonly databases: EngineDatabases & {
    /** For all requests except the insertion of tasks. */
    readonly api: Database;
  };
  readonly caller: Caller;
  /** The part of the egress policy that applies to a URL. */
  readonly refuseUrl: RefuseUrl;
  readonly sendMail: SendMail;
  /** Null or absent without a mail server. */
  readonly deliverMail?: DeliverMail | null;
  readonly providers: ProviderService;
  /** Null without a vault. */
  readonly keyRing: KeyRing | null;
  /** The operator's own keys; empty: they are in the database and rotated. */
  readonly sessionKeys: readonly string[];
  readonly signUp: "open" | "invited";
  /** False if no link can reach a person; then none is created. */
  readonly sendsLinks: boolean;
  readonly publicUrl: () => string;
  readonly name: string;
  readonly role: NodeRole;
  /** Only this process can reach the database. */
  readonly embedded: boolean;
  readonly capacity: number;
  /** The operator's limits that replace those of a plan. */
  readonly planLimits?: PlanLimits;
  /** Default: no tracing. */
  readonly tracing?: Tracing | undefined;
  /** Default: the main thread serializes events. */
  readonly serializer?: EventSerializer | undefined;
  /** For a process that shares its port with others. */
  readonly hitLines?: HitLines | undefined;
  /** Whether all processes of the server have started. Default: there is only one. */
  readonly isServerStarted?: (() => boolean) | undefined;
  /** Default: the disk is not monitored. */
  readonly space?: Space;
  readonly retentionDays: number;
  /** Maximum stored bytes of an answer. */
  readonly resultLimitBytes: number;
  readonly log: Log;
  readonly time: Time;
  readonly random: () => number;
}

/** Two nodes with the same number would overwrite each other's statistics. */
const MOST_NODES = 2 ** 47;

/** The parts that the engine and the services share. */
export function composeBasis({ databases, keyRing, time, planLimits, space, log, serializer }: NodeDeps) {
  const database = databases.api;
  const vault = createVault({ sql: database, keyRing });
  const eventDelay = createEventDelayReader({ sql: database, time });
  const metrics = createMetrics({
    version: VERSION,
    time,
    readDepths: () => readQueueDepths(database, MOST_QUEUES),
    readEventsBehindMs: async () => (await eventDelay.read())?.behindMs ?? 0,
  });
  const events = createEventFeed({
    sql: database,
    time,
    words: SERVER_SENT,
    serializer: serializer ?? createEventSerializer(database, SERVER_SENT),
    onCut: metrics.streamCut,
  });
  metrics.watchStreams(() => events.count);
  const json = createJsonGate(createJsonPool({ onJob: metrics.jsonJob }));
  metrics.watchJson(() => json.waiting);
  const loop = createLoopShare(metrics.loopSpent, metrics.loopLate);
  const counters = createQueueCounters({ sql: databases.chores, node: 1 + randomInt(MOST_NODES), time });
  const waits = createTaskWaits({ sql: database, time });
  const changes = createTaskChanges();
  changes.subscribe(metrics.tasks);
  changes.subscribe(counters);
  changes.subscribe(waits);
  changes.subscribe(anyChange(events.notice));
  return {
    changes,
    limitsOf: createLimitsOf(planLimits),
    space: space === undefined ? null : composeDiskMonitor(space, databases.chores, log),
    storageQuota: createStorageQuota({
      sql: database,
      chores: databases.chores,
      monotonicMs: time.monotonicMs,
    }),
    vault,
    json,
    loop,
    waits,
    events,
    eventDelay,
    signingSecrets: createSigningSecretService({ database, vault, monotonicMs: time.monotonicMs }),
    messageKeys: createMessageKeyService({ database, vault, monotonicMs: time.monotonicMs }),
    metrics,
    counters,
    meter: countingQueues(metrics.engine, counters),
  };
}
