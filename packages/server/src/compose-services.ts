import { randomInt } from "node:crypto";
import { SERVER_SENT } from "./api/tasks/event-view.ts";
import { composeSpaceWatch, type Space } from "./compose-space.ts";
import type { RefuseUrl } from "./domain/call.ts";
import type { SendMail } from "./domain/identity/mail.ts";
import { createLimitsOf, type PlanLimits } from "./domain/limits.ts";
import type { NodeRole } from "./domain/node-role.ts";
import type { Time } from "./domain/time.ts";
import type { EngineDatabases } from "./engine/engine-databases.ts";
import type { FrontDesk } from "./engine/front-desk.ts";
import type { Log } from "./engine/log.ts";
import type { EngineMeter } from "./engine/meter.ts";
import { countingQueues, createQueueCounters } from "./engine/queue-counters.ts";
import { createJsonGate } from "./json/gate.ts";
import { createJsonPool } from "./json/pool.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { MOST_QUEUES } from "./metrics/queue-metrics.ts";
import type { Caller } from "./outbound/caller.ts";
import type { HitLines } from "./processes/hits.ts";
import { createApiKeyService } from "./service/access/api-key-service.ts";
import { createAuthService } from "./service/access/auth-service.ts";
import { createFailureLimit } from "./service/access/failure-limit.ts";
import { createLoopShare } from "./service/access/loop-share.ts";
import {
  createAccessLookup,
  createKeyLookup,
  createSessionLookup,
  createTokenLookup,
} from "./service/access/principals.ts";
import { createRequestLimits } from "./service/access/request-limits.ts";
import { createSourceLimit, VISITS } from "./service/access/source-limit.ts";
import { createTermsLookup } from "./service/access/team-budgets.ts";
import { createTokenSigner } from "./service/access/token-signer.ts";
import { createAuditService } from "./service/audit/audit-service.ts";
import { createHealthService } from "./service/health-service.ts";
import { createAuthorizationService } from "./service/oauth/authorization-service.ts";
import { createOAuthApplicationService } from "./service/oauth/oauth-application-service.ts";
import { createOAuthService } from "./service/oauth/oauth-service.ts";
import { createSystemService } from "./service/operator/system-service.ts";
import { createInvitationService } from "./service/people/invitation-service.ts";
import { createMemberService } from "./service/people/member-service.ts";
import { createSessionService } from "./service/people/session-service.ts";
import { createSignInService } from "./service/people/sign-in-service.ts";
import { createTeamService } from "./service/people/team-service.ts";
import { createStock } from "./service/stock.ts";
import { createBulkService } from "./service/tasks/bulk-service.ts";
import { createCallbackService } from "./service/tasks/callback-service.ts";
import { createEventFeed } from "./service/tasks/event-feed.ts";
import { createEventTeller, type EventTeller } from "./service/tasks/event-teller.ts";
import { createExplanationService } from "./service/tasks/explanation-service.ts";
import type { ProviderService } from "./service/tasks/provider-service.ts";
import { createQueueService } from "./service/tasks/queue-service.ts";
import { createSandboxService } from "./service/tasks/sandbox-service.ts";
import { createSandboxWalk } from "./service/tasks/sandbox-walk.ts";
import { createScheduleRunner } from "./service/tasks/schedule-runner.ts";
import { createScheduleService } from "./service/tasks/schedule-service.ts";
import { createStatsService } from "./service/tasks/stats-service.ts";
import { createTaskService } from "./service/tasks/task-service.ts";
import { createTaskWaits } from "./service/tasks/task-waits.ts";
import { createWaitingService } from "./service/tasks/waiting-service.ts";
import { createWebhookService } from "./service/tasks/webhook-service.ts";
import { createSigningSecretService } from "./service/vault/signing-secret-service.ts";
import { createVaultService } from "./service/vault/vault-service.ts";
import type { Pulse } from "./store/pulse.ts";
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
  /** Left out: events are put into words between everything else. */
  readonly teller?: EventTeller | undefined;
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

export type Services = ReturnType<typeof composeServices>;

/** What the engine and the services of a node share. */
export function composeBasis({ databases, keyRing, time, planLimits, space, log, teller }: NodeDeps) {
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
    teller: teller ?? createEventTeller(database, SERVER_SENT),
    onCut: metrics.streamCut,
  });
  metrics.watchStreams(() => events.count);
  const json = createJsonGate(createJsonPool({ onJob: metrics.jsonJob }));
  metrics.watchJson(() => json.waiting);
  const loop = createLoopShare(metrics.loopSpent, metrics.loopLate);
  const counters = createQueueCounters({ sql: databases.chores, node: 1 + randomInt(MOST_NODES), time });
  return {
    limitsOf: createLimitsOf(planLimits),
    space: space === undefined ? null : composeSpaceWatch(space, databases.chores, log),
    stock: createStock({ sql: database, monotonicMs: time.monotonicMs }),
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

/** What follows when a task was cancelled or begun anew, by whatever way. */
export function listeners(
  engine: Pick<FrontDesk, "ended" | "pending" | "follow">,
  meter: EngineMeter,
): Pick<Parameters<typeof createTaskService>[0], "onCancelled" | "onPending"> {
  return {
    onCancelled(cancelled) {
      meter.cancelled(cancelled.teamId, cancelled.queueId, cancelled.sandbox);
      engine.ended();
      return engine.follow(cancelled);
    },
    onPending(task, times) {
      meter.retried(task.teamId, task.queueId, task.sandbox);
      engine.pending(task, times);
    },
  };
}

export function composeServices(
  deps: NodeDeps,
  parts: ReturnType<typeof composeBasis> & {
    readonly engine: Pick<FrontDesk, "actors" | "submit" | "ended" | "pending" | "follow" | "isCrowded">;
    readonly isDispatching: (() => boolean) | null;
    readonly pulses: Readonly<Record<string, Pulse>>;
  },
) {
  const { publicUrl, sendMail, signUp, sendsLinks, providers } = deps;
  const { monotonicMs, nowMs } = deps.time;
  const {
    engine,
    vault,
    signingSecrets,
    metrics,
    meter,
    pulses,
    limitsOf,
    space,
    stock,
    waits,
    events,
    loop,
  } = parts;
  const database = deps.databases.api;
  const now = () => new Date(nowMs());

  const signer = createTokenSigner({ database, sessionKeys: deps.sessionKeys, monotonicMs, now });
  const findSession = createSessionLookup(database, limitsOf);
  const findAccess = createAccessLookup(database, limitsOf);
  const failures = createFailureLimit({ monotonicMs, shared: deps.hitLines?.failures });
  const auth = createAuthService({
    findKey: createKeyLookup(database, limitsOf),
    findToken: createTokenLookup({ signer, findSession, findAccess }),
    failures,
    monotonicMs,
  });
  const limits = createRequestLimits({ sql: database, monotonicMs, loop });
  const callbacks = createCallbackService({
    sql: database,
    monotonicMs,
    onEnded({ teamId, queueId, id }) {
      meter.ended(null, teamId, queueId);
      engine.ended();
      waits.ended(id);
      events.notice();
    },
  });
  const onStored: Parameters<typeof createTaskService>[0]["onStored"] = (task, accepted) => {
    meter.created(task.shape, task.sandbox, task.teamId, accepted.queueId);
    engine.pending(task, accepted);
    events.notice();
  };
  const told = listeners(engine, meter);
  const untraced = createTaskService({
    database,
    submit: engine.submit,
    stock,
    hasSpace: () => space?.isLow !== true,
    vault,
    providers,
    publicUrl,
    leavesJobs: parts.isDispatching === null,
    ...told,
    onCancelled(cancelled) {
      waits.ended(cancelled.id);
      events.notice();
      return told.onCancelled(cancelled);
    },
    onStored,
  });
  const tasks = deps.tracing?.ofTasks(untraced) ?? untraced;
  const termsOf = createTermsLookup(database, limitsOf);
  const traceFirings = deps.tracing?.ofFirings;
  const scheduling = { database, accept: tasks.accept, termsOf, onStored, traceFirings };
  const scheduleRunner = createScheduleRunner(scheduling);
  const sandboxWalk = createSandboxWalk({
    database,
    random: deps.random,
    nowMs,
    onEnded(taskId, notify) {
      if (notify) engine.ended();
      waits.ended(taskId);
    },
  });
  return {
    tasks,
    schedules: createScheduleService(scheduling),
    scheduleRunner,
    sandboxWalk,
    sandbox: createSandboxService({ database, walk: sandboxWalk, schedules: scheduleRunner }),
    bulks: createBulkService({ database }),
    waits,
    events,
    waiting: createWaitingService({ tasks, waits }),
    explanations: createExplanationService({ sql: database, isCrowded: engine.isCrowded }),
    queues: createQueueService({ database, onChanged: events.notice }),
    stats: createStatsService({ sql: database, now }),
    webhooks: createWebhookService({ database, onChanged: () => engine.actors.wake("webhooks") }),
    callbacks: {
      ...callbacks,
      resolve: (callbackId: string, body: string) => metrics.callback(callbacks.resolve(callbackId, body)),
    },
    metrics,
    providers,
    vault: createVaultService({ vault, database }),
    signingSecrets,
    health: createHealthService({
      sql: database,
      pulses,
      isDispatching: parts.isDispatching,
      isServerStarted: deps.isServerStarted,
    }),
    auth,
    limits,
    visits: createSourceLimit({ ...VISITS, monotonicMs, shared: deps.hitLines?.visits }),
    apiKeys: createApiKeyService({ database }),
    signIn: createSignInService({ database, signer, sendMail, publicUrl, signUp, sendsLinks, now }),
    sessions: createSessionService({ database, signer }),
    teams: createTeamService({ database, stock }),
    members: createMemberService({ database }),
    invitations: createInvitationService({ database, sendMail, publicUrl }),
    applications: createOAuthApplicationService({ database }),
    authorizations: createAuthorizationService({ database }),
    oauth: createOAuthService({
      database,
      signer,
      findSession,
      failures,
      limits,
      publicUrl,
      recheck: auth.recheck,
    }),
    audit: createAuditService({ sql: database }),
    json: parts.json,
    loop,
    system: createSystemService({ sql: database, embedded: deps.embedded }),
  };
}
