import { notificationText } from "./api/tasks/notification-view.ts";
import type { RefuseUrl } from "./domain/call.ts";
import type { SendMail } from "./domain/identity/mail.ts";
import { createLimitsOf, type PlanLimits } from "./domain/limits.ts";
import type { NodeRole } from "./domain/node-role.ts";
import { publicTaskId } from "./domain/task-id.ts";
import type { Time } from "./domain/time.ts";
import { createEngine, type Engine } from "./engine/engine.ts";
import type { EngineDatabases } from "./engine/engine-databases.ts";
import { createFrontDesk, type FrontDesk } from "./engine/front-desk.ts";
import type { Log } from "./engine/log.ts";
import { createOutgoing } from "./engine/outgoing.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { MOST_QUEUES } from "./metrics/queue-metrics.ts";
import type { Caller } from "./outbound/caller.ts";
import { createApiKeyService } from "./service/access/api-key-service.ts";
import { createAuthService } from "./service/access/auth-service.ts";
import { createFailureLimit } from "./service/access/failure-limit.ts";
import {
  createAccessLookup,
  createKeyLookup,
  createSessionLookup,
  createTokenLookup,
} from "./service/access/principals.ts";
import { createRequestLimits } from "./service/access/request-limits.ts";
import { turnSessionKeys } from "./service/access/session-keys.ts";
import { createSourceLimit, VISITS } from "./service/access/source-limit.ts";
import { createBudgetLookup } from "./service/access/team-budgets.ts";
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
import { createPresence, type Presence } from "./service/presence.ts";
import { removeOldRecords } from "./service/retention.ts";
import { createCallbackService } from "./service/tasks/callback-service.ts";
import { createExplanationService } from "./service/tasks/explanation-service.ts";
import type { ProviderService } from "./service/tasks/provider-service.ts";
import { createQueueService } from "./service/tasks/queue-service.ts";
import { createScheduleRunner } from "./service/tasks/schedule-runner.ts";
import { createScheduleService } from "./service/tasks/schedule-service.ts";
import { createTaskService } from "./service/tasks/task-service.ts";
import { createSigningSecretService } from "./service/vault/signing-secret-service.ts";
import { createVaultService } from "./service/vault/vault-service.ts";
import { type Pulse, takePulse } from "./store/pulse.ts";
import type { Database } from "./store/sql.ts";
import { readQueueDepths } from "./store/tasks/queue-depths.ts";
import { findTask } from "./store/tasks/task-reads.ts";
import type { KeyRing } from "./vault/key-ring.ts";
import { createRotation } from "./vault/rotation.ts";
import { createVault, type Vault } from "./vault/vault.ts";
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
  readonly retentionDays: number;
  /** How much of an answer is kept. */
  readonly resultLimitBytes: number;
  readonly log: Log;
  readonly time: Time;
  readonly random: () => number;
}

export interface BellhopNode<Work extends FrontDesk | Engine> {
  readonly engine: Work;
  readonly vault: Vault;
  readonly services: Services;
  readonly presence: Presence;
}

export type Services = ReturnType<typeof composeServices>;

/** A node that serves the API and makes no calls. Nothing runs yet, as below. */
export function composeApiNode(deps: NodeDeps): BellhopNode<FrontDesk> {
  const { databases, log, time } = deps;
  const basis = composeBasis(deps);
  const intake = takePulse(databases.intake, time.monotonicMs);
  const engine = createFrontDesk({
    databases: { intake: intake.database, chores: databases.chores },
    // Any: two nodes that happened on the same would only wait for each other now and then.
    number: -1 - Math.floor(deps.random() * 2 ** 48),
    log,
    meter: basis.metrics.engine,
    time,
  });
  const presence = addPresence(deps, engine, null);
  const services = composeServices(deps, { ...basis, engine, isDispatching: null, pulses: { intake } });
  return { engine, vault: basis.vault, services, presence };
}

/** Builds one node of Bellhop. Nothing runs yet: `engine.start` does that, and the API has to be opened. */
export function composeNode(deps: NodeDeps): BellhopNode<Engine> {
  const { databases, keyRing, time } = deps;
  const database = databases.api;
  const limitsOf = createLimitsOf(deps.planLimits);
  const basis = composeBasis(deps);
  const { vault, signingSecrets, metrics } = basis;
  const pulses = {
    intake: takePulse(databases.intake, time.monotonicMs),
    claims: takePulse(databases.claim, time.monotonicMs),
    settlements: takePulse(databases.settle, time.monotonicMs),
  };
  const engine = createEngine({
    databases: {
      ...databases,
      intake: pulses.intake.database,
      claim: pulses.claims.database,
      settle: pulses.settlements.database,
    },
    meter: metrics.engine,
    outgoing: createOutgoing({
      caller: deps.caller,
      vault,
      signingSecrets: signingSecrets.secretsFor,
      publicUrl: deps.publicUrl,
      nowMs: time.nowMs,
    }),
    log: deps.log,
    name: deps.name,
    capacity: deps.capacity,
    findBudgets: createBudgetLookup(databases.chores, limitsOf),
    retentionDays: deps.retentionDays,
    resultLimitBytes: deps.resultLimitBytes,
    composeMessage: async (teamId, taskId, endedAt) => {
      const task = await findTask(database, { teamId, environment: "live" }, taskId);
      if (task?.completedAt?.getTime() !== endedAt.getTime()) return null;
      return { task: publicTaskId(task), body: notificationText(task) };
    },
    time,
    random: deps.random,
  });
  metrics.watchCalls(() => engine.attempts.count, deps.capacity);
  engine.actors.add({ name: "retention", once: () => removeOldRecords(database) });
  // The operator's own keys are the operator's to replace.
  if (deps.sessionKeys.length === 0) {
    engine.actors.add({ name: "session-keys", once: () => turnSessionKeys(database) });
  }
  if (keyRing !== null) {
    engine.actors.add({
      name: "vault-rotation",
      once: createRotation({ sql: database, keyRing }).turnOnce,
    });
  }
  const presence = addPresence(deps, engine, engine);
  const isDispatching = engine.lease.isHeld;
  const services = composeServices(deps, { ...basis, engine, isDispatching, pulses });
  engine.actors.add({ name: "scheduler", once: services.scheduleRunner.fireOnce });
  return { engine, vault, services, presence };
}

function addPresence(deps: NodeDeps, { actors }: FrontDesk | Engine, caller: Engine | null): Presence {
  const presence = createPresence({
    sql: deps.databases.api,
    name: deps.name,
    role: deps.role,
    version: VERSION,
    maxInFlight: caller === null ? 0 : deps.capacity,
    workerId: () => caller?.lease.workerId ?? null,
    callsInFlight: () => caller?.attempts.count ?? 0,
    nowMs: deps.time.nowMs,
  });
  actors.add({ name: "presence", once: presence.beatOnce });
  return presence;
}

function composeBasis({ databases, keyRing, time }: NodeDeps) {
  const database = databases.api;
  return {
    vault: createVault({ sql: database, keyRing }),
    signingSecrets: createSigningSecretService({ database, monotonicMs: time.monotonicMs }),
    metrics: createMetrics({
      version: VERSION,
      time,
      readDepths: () => readQueueDepths(database, MOST_QUEUES),
    }),
  };
}

function composeServices(
  deps: NodeDeps,
  parts: ReturnType<typeof composeBasis> & {
    readonly engine: Pick<FrontDesk, "submit" | "ended" | "pending" | "follow" | "isCrowded">;
    readonly isDispatching: (() => boolean) | null;
    readonly pulses: Readonly<Record<string, Pulse>>;
  },
) {
  const { publicUrl, sendMail, signUp, sendsLinks, providers } = deps;
  const { monotonicMs, nowMs } = deps.time;
  const { engine, vault, signingSecrets, metrics, pulses } = parts;
  const database = deps.databases.api;
  const now = () => new Date(nowMs());
  const signer = createTokenSigner({ database, sessionKeys: deps.sessionKeys, monotonicMs, now });
  const findSession = createSessionLookup(database);
  const findAccess = createAccessLookup(database);
  const failures = createFailureLimit({ monotonicMs });
  const auth = createAuthService({
    findKey: createKeyLookup(database),
    findToken: createTokenLookup({ signer, findSession, findAccess }),
    failures,
    monotonicMs,
  });
  const limits = createRequestLimits({ sql: database, monotonicMs });
  const callbacks = createCallbackService({
    sql: database,
    monotonicMs,
    onEnded() {
      metrics.engine.ended(null);
      engine.ended();
    },
  });
  const onStored: Parameters<typeof createTaskService>[0]["onStored"] = (task, accepted) => {
    metrics.engine.created(task.shape, task.sandbox);
    engine.pending(task, accepted);
  };
  const tasks = createTaskService({
    database,
    submit: engine.submit,
    vault,
    providers,
    publicUrl,
    onCancelled(cancelled) {
      metrics.engine.cancelled();
      engine.ended();
      return engine.follow(cancelled);
    },
    onPending: engine.pending,
    onStored,
  });
  const scheduling = { database, accept: tasks.accept, onStored };
  return {
    tasks,
    schedules: createScheduleService(scheduling),
    scheduleRunner: createScheduleRunner(scheduling),
    explanations: createExplanationService({ sql: database, isCrowded: engine.isCrowded }),
    queues: createQueueService({ database }),
    callbacks: {
      ...callbacks,
      resolve: (callbackId: string, body: string) => metrics.callback(callbacks.resolve(callbackId, body)),
    },
    metrics,
    providers,
    vault: createVaultService({ vault, database }),
    signingSecrets,
    health: createHealthService({ sql: database, pulses, isDispatching: parts.isDispatching }),
    auth,
    limits,
    visits: createSourceLimit({ ...VISITS, monotonicMs }),
    apiKeys: createApiKeyService({ database }),
    signIn: createSignInService({ database, signer, sendMail, publicUrl, signUp, sendsLinks, now }),
    sessions: createSessionService({ database, signer }),
    teams: createTeamService({ database }),
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
    system: createSystemService({ sql: database, embedded: deps.embedded }),
  };
}
