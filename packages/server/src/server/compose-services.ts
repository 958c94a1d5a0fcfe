import type { FrontDesk } from "../engine/front-desk.ts";
import { createApiKeyService } from "../service/access/api-key-service.ts";
import { createAuthService } from "../service/access/auth-service.ts";
import { createFailureLimit } from "../service/access/failure-limit.ts";
import {
  createAccessLookup,
  createKeyLookup,
  createSessionLookup,
  createTokenLookup,
} from "../service/access/principals.ts";
import { createRequestLimits } from "../service/access/request-limits.ts";
import { createSourceLimit, VISITS } from "../service/access/source-limit.ts";
import { createTermsLookup } from "../service/access/team-budgets.ts";
import { createTokenSigner } from "../service/access/token-signer.ts";
import { createAuditService } from "../service/audit/audit-service.ts";
import { requireSpace } from "../service/disk-monitor.ts";
import { createHealthService } from "../service/health-service.ts";
import { createAuthorizationService } from "../service/oauth/authorization-service.ts";
import { createOAuthApplicationService } from "../service/oauth/oauth-application-service.ts";
import { createOAuthService } from "../service/oauth/oauth-service.ts";
import { createSystemService } from "../service/operator/system-service.ts";
import { createInvitationService } from "../service/people/invitation-service.ts";
import { createMemberService } from "../service/people/member-service.ts";
import { createSessionService } from "../service/people/session-service.ts";
import { createSignInService } from "../service/people/sign-in-service.ts";
import { createTeamService } from "../service/people/team-service.ts";
import { createScanLine } from "../service/scan-line.ts";
import { createCallbackService } from "../service/tasks/callback-service.ts";
import { createExplanationService } from "../service/tasks/explanation-service.ts";
import { createQueueService } from "../service/tasks/queue-service.ts";
import { createTaskService } from "../service/tasks/task-service.ts";
import { createWaitingService } from "../service/tasks/waiting-service.ts";
import { createTeamTurns } from "../service/team-turns.ts";
import { createVaultService } from "../service/vault/vault-service.ts";
import type { DatabaseHealth } from "../store/database-health.ts";
import type { composeBasis, NodeDeps } from "./compose-basis.ts";

export type CoreServices = ReturnType<typeof composeServices>;

/** The services of the core, which exist on every node. */
export function composeServices(
  deps: NodeDeps,
  parts: ReturnType<typeof composeBasis> & {
    readonly engine: Pick<FrontDesk, "actors" | "submit" | "notificationDue" | "follow" | "isCrowded">;
    readonly isDispatching: (() => boolean) | null;
    readonly databaseHealth: Readonly<Record<string, DatabaseHealth>>;
  },
) {
  const { publicUrl, sendMail, signUp, sendsLinks, providers } = deps;
  const { monotonicMs, nowMs } = deps.time;
  const {
    engine,
    vault,
    signingSecrets,
    messageKeys,
    metrics,
    changes,
    databaseHealth,
    limitsOf,
    space,
    storageQuota,
    waits,
    events,
    loop,
  } = parts;
  const database = deps.databases.api;
  const now = () => new Date(nowMs());
  const inTeamTurn = createTeamTurns();

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
  const callbacks = createCallbackService({ sql: database, monotonicMs, changes });
  const untraced = createTaskService({
    database,
    submit: engine.submit,
    storageQuota,
    requireSpace: () => requireSpace(space),
    vault,
    providers,
    publicUrl,
    leavesJobs: parts.isDispatching === null,
    changes,
    follow: engine.follow,
    onResent: () => engine.notificationDue(),
  });
  const tasks = deps.tracing?.ofTasks(untraced) ?? untraced;
  const termsOf = createTermsLookup(database, limitsOf);
  return {
    tasks,
    changes,
    scans: createScanLine(),
    inTeamTurn,
    termsOf,
    follow: engine.follow,
    limitsOf,
    storageQuota,
    waits,
    events,
    waiting: createWaitingService({ tasks, waits }),
    explanations: createExplanationService({ sql: database, isCrowded: engine.isCrowded }),
    queues: createQueueService({ database, onChanged: events.notice, inTeamTurn }),
    callbacks: {
      ...callbacks,
      resolve: (callbackId: string, body: string) => metrics.callback(callbacks.resolve(callbackId, body)),
    },
    metrics,
    providers,
    vault: createVaultService({ vault, database }),
    signingSecrets,
    messageKeys,
    health: createHealthService({
      sql: database,
      databaseHealth,
      isDispatching: parts.isDispatching,
      isServerStarted: deps.isServerStarted,
    }),
    auth,
    limits,
    visits: createSourceLimit({ ...VISITS, monotonicMs, shared: deps.hitLines?.visits }),
    apiKeys: createApiKeyService({ database }),
    signIn: createSignInService({ database, signer, sendMail, publicUrl, signUp, sendsLinks, now }),
    sessions: createSessionService({ database, signer }),
    teams: createTeamService({ database, storageQuota }),
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
    system: createSystemService({
      sql: database,
      embedded: deps.embedded,
      disk: deps.space ?? null,
      eventDelay: parts.eventDelay,
    }),
  };
}
