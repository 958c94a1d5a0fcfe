import { randomInt } from "node:crypto";
import { SERVER_SENT } from "./api/tasks/event-view.ts";
import { composeDiskMonitor, type Space } from "./compose-disk-monitor.ts";
import type { RefuseUrl } from "./domain/call.ts";
import type { SendMail } from "./domain/identity/mail.ts";
import { createLimitsOf, type PlanLimits } from "./domain/limits.ts";
import type { NodeRole } from "./domain/node-role.ts";
import type { Time } from "./domain/time.ts";
import type { EngineDatabases } from "./engine/engine-databases.ts";
import type { Log } from "./engine/log.ts";
import { countingQueues, createQueueCounters } from "./engine/queue-counters.ts";
import { createJsonGate } from "./json/gate.ts";
import { createJsonPool } from "./json/pool.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { MOST_QUEUES } from "./metrics/queue-metrics.ts";
import type { Caller } from "./outbound/caller.ts";
import type { HitLines } from "./processes/hits.ts";
import { createLoopShare } from "./service/access/loop-share.ts";
import { createStorageQuota } from "./service/storage-quota.ts";
import { createEventFeed } from "./service/tasks/event-feed.ts";
import { createEventSerializer, type EventSerializer } from "./service/tasks/event-serializer.ts";
import type { ProviderService } from "./service/tasks/provider-service.ts";
import { createTaskWaits } from "./service/tasks/task-waits.ts";
import { createSigningSecretService } from "./service/vault/signing-secret-service.ts";
import type { Database } from "./store/sql.ts";
import { readQueueDepths } from "./store/tasks/queue-depths.ts";
import type { Tracing } from "./tracing/tracing.ts";
import type { KeyRing } from "./vault/key-ring.ts";
import { createVault } from "./vault/vault.ts";
import { VERSION } from "./version.ts";

/** What a node stands on: connections, the way out, time, and what the operator decided. */
export interface NodeDeps {
  readonly databases: EngineDatabases & {
    /** For everything that answers a request, but the insertion of tasks. */
    readonly api: Database;
  };
  readonly caller: Caller;
  /** The egress policy, as far as it can be seen from a URL. */
  readonly refuseUrl: RefuseUrl;
  readonly sendMail: SendMail;
  readonly providers: ProviderService;
  /** Null: no vault. */
  readonly keyRing: KeyRing | null;
  /** The operator's own; none: they are kept in the database and replaced from time to time. */
  readonly sessionKeys: readonly string[];
  readonly signUp: "open" | "invited";
  /** False: no person would get a link that they ask for, so none is made. */
  readonly sendsLinks: boolean;
  readonly publicUrl: () => string;
  readonly name: string;
  readonly role: NodeRole;
  /** The database is one that only this process reaches. */
  readonly embedded: boolean;
  readonly capacity: number;
  /** What the operator set for a plan otherwise than it is. */
  readonly planLimits?: PlanLimits;
  /** Left out: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Left out: the main thread serializes events. */
  readonly serializer?: EventSerializer | undefined;
  /** Of a process that shares its port with others. */
  readonly hitLines?: HitLines | undefined;
  /** Whether all processes of the server have started. Left out: there is one. */
  readonly isServerStarted?: (() => boolean) | undefined;
  /** Left out: nobody looks how much room there is. */
  readonly space?: Space;
  readonly retentionDays: number;
  /** How much of an answer is kept. */
  readonly resultLimitBytes: number;
  readonly log: Log;
  readonly time: Time;
  readonly random: () => number;
}

/** Two nodes that happened on the same number would write over each other's statistics. */
const MOST_NODES = 2 ** 47;

/** What the engine and the services of a node share. */
export function composeBasis({ databases, keyRing, time, planLimits, space, log, serializer }: NodeDeps) {
  const database = databases.api;
  const vault = createVault({ sql: database, keyRing });
  const metrics = createMetrics({
    version: VERSION,
    time,
    readDepths: () => readQueueDepths(database, MOST_QUEUES),
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
  return {
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
    waits: createTaskWaits({ sql: database, time }),
    events,
    signingSecrets: createSigningSecretService({ database, vault, monotonicMs: time.monotonicMs }),
    metrics,
    counters,
    meter: countingQueues(metrics.engine, counters),
  };
}
