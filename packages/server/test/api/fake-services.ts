import type { Principal } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import { QUEUE_DEFAULTS, type QueueWithStats } from "../../src/domain/queue.ts";
import type { CreatedTask, Task } from "../../src/domain/task.ts";
import { followUpOf, type TaskRequest } from "../../src/domain/task-request.ts";
import type { AuthService } from "../../src/service/access/auth-service.ts";
import type { RequestLimits } from "../../src/service/access/request-limits.ts";
import type { SourceLimit } from "../../src/service/access/source-limit.ts";
import type { AuditPage, AuditQuery, AuditService } from "../../src/service/audit/audit-service.ts";
import type { Health, HealthService } from "../../src/service/health-service.ts";
import type { OAuthApplicationService } from "../../src/service/oauth/oauth-application-service.ts";
import type { CallbackService } from "../../src/service/tasks/callback-service.ts";
import { createProviderService, type ProviderService } from "../../src/service/tasks/provider-service.ts";
import type { QueueService } from "../../src/service/tasks/queue-service.ts";
import { newTaskUuid } from "../../src/service/tasks/task-id.ts";
import type { TaskPage, TaskQuery, TaskService } from "../../src/service/tasks/task-service.ts";
import type { SigningSecretService } from "../../src/service/vault/signing-secret-service.ts";
import { principalOf } from "../test-principal.ts";
import { createFakeApiKeys, type FakeApiKeys } from "./fake-api-keys.ts";
import { createFakeGrantedAccess, type FakeGrantedAccess } from "./fake-granted-access.ts";
import { createFakeApplications, createFakeOAuth, type FakeOAuth } from "./fake-oauth.ts";
import { createFakeSignIn, type FakeSignIn } from "./fake-sign-in.ts";
import { createFakeTeams, type FakeTeams } from "./fake-teams.ts";
import { createFakeVault, type FakeVault } from "./fake-vault.ts";

export const LIVE_KEY = `bh_live_${"a".repeat(43)}`;
export const OTHER_TEAM_KEY = `bh_live_${"b".repeat(43)}`;
export const NOW = new Date("2026-03-01T09:30:00.123Z");

export interface FakeServices {
  readonly tasks: TaskService;
  readonly queues: QueueService;
  readonly auth: AuthService;
  readonly limits: RequestLimits;
  readonly visits: SourceLimit;
  readonly health: HealthService;
  readonly providers: ProviderService;
  readonly vault: FakeVault;
  readonly callbacks: CallbackService;
  readonly signingSecrets: SigningSecretService;
  readonly teams: FakeTeams["teams"];
  readonly members: FakeTeams["members"];
  readonly invitations: FakeTeams["invitations"];
  readonly signIn: FakeSignIn["signIn"];
  readonly sessions: FakeSignIn["sessions"];
  readonly links: FakeSignIn;
  /** Signs people in. */
  readonly people: FakeTeams;
  readonly apiKeys: FakeApiKeys;
  readonly audit: AuditService;
  readonly applications: OAuthApplicationService;
  readonly grantedAccess: FakeGrantedAccess;
  readonly oauth: FakeOAuth;
  /** What reached the services, for the test to look at. */
  readonly requests: TaskRequest[];
  readonly received: Callback[];
  /** Where callbacks came from, also those that were refused. */
  readonly callbackSources: string[];
  readonly queries: TaskQuery[];
  readonly stored: Map<string, Task>;
  page: TaskPage;
  readonly auditQueries: (AuditQuery & { readonly teamId: number })[];
  auditPage: AuditPage;
  readiness: Health;
}

export interface Callback {
  readonly id: string;
  readonly body: string;
}

/** The rules of the services in their simplest form, in memory. */
export function createFakeServices(): FakeServices {
  const requests: TaskRequest[] = [];
  const received: Callback[] = [];
  const callbackSources: string[] = [];
  const queries: TaskQuery[] = [];
  const stored = new Map<string, Task>();
  const queues = new Map<string, QueueWithStats>();
  /** The first task of each idempotency key, and the one of each callback. */
  const keyed = new Map<string, { readonly text: string; readonly created: CreatedTask }>();
  const awaited = new Map<string, string>();
  let rotations = 0;
  const people = createFakeTeams(NOW);
  const links = createFakeSignIn(NOW, people.signedIn);

  const key = (principal: Principal, name: string) => `${principal.teamId} ${name}`;
  const findQueue = (principal: Principal, name: string): QueueWithStats => {
    const queue = queues.get(key(principal, name));
    if (queue === undefined) throw new Problem("queue_not_found", { name });
    return queue;
  };
  const findTask = (principal: Principal, id: string): Task => {
    const task = stored.get(id);
    if (task === undefined || task.teamId !== principal.teamId) throw new Problem("task_not_found");
    return task;
  };
  const putQueue = (principal: Principal, queue: QueueWithStats): QueueWithStats => {
    queues.set(key(principal, queue.name), queue);
    return queue;
  };

  const fakes: FakeServices = {
    requests,
    received,
    callbackSources,
    queries,
    stored,
    page: { tasks: [], total: 0, hasMore: false, nextCursor: null },
    auditQueries: [],
    auditPage: { events: [], hasMore: false, nextCursor: null },
    readiness: { ready: true, checks: { database: "ok" } },
    auth: {
      recall: () => null,
      recheck() {},
      async authenticate(credential) {
        const person = people.signedIn.get(credential);
        if (person !== undefined) return person;
        const team = [LIVE_KEY, OTHER_TEAM_KEY].indexOf(credential);
        if (team === -1) throw new Problem("api_key_invalid");
        return principalOf(team + 1);
      },
    },
    visits: { left: () => 1, refuse() {}, count() {} },
    limits: { count: () => ({ limit: null, remaining: 0, resetSeconds: 0, retryAfterSeconds: null }) },
    health: { check: async () => fakes.readiness },
    providers: createProviderService(null),
    vault: createFakeVault(NOW),
    people,
    links,
    signIn: links.signIn,
    sessions: links.sessions,
    teams: people.teams,
    members: people.members,
    invitations: people.invitations,
    apiKeys: createFakeApiKeys(NOW),
    applications: createFakeApplications(NOW),
    grantedAccess: createFakeGrantedAccess(NOW),
    oauth: createFakeOAuth(),
    audit: {
      async list({ teamId }, query) {
        fakes.auditQueries.push({ teamId, ...query });
        return fakes.auditPage;
      },
    },
    tasks: {
      async create(principal, request) {
        findQueue(principal, request.queue);
        const { idempotencyKey, requestText } = request;
        const taken = idempotencyKey === null ? undefined : keyed.get(idempotencyKey);
        if (taken !== undefined && taken.text !== requestText)
          throw new Problem("idempotency_conflict", { key: idempotencyKey ?? "" });
        if (taken !== undefined) return { ...taken.created, callback: null, replayed: true };
        requests.push(request);
        const task = newFakeTask(principal, request, fakes.providers);
        stored.set(task.id, task);
        const callback = isCalledBack(task) ? newFakeCallback(requests.length) : null;
        if (callback !== null) awaited.set(callback.id, task.id);
        const created = { ...task, callback, replayed: false };
        if (idempotencyKey !== null) keyed.set(idempotencyKey, { text: requestText, created });
        return created;
      },
      get: async (principal, id) => findTask(principal, id),
      async list(_principal, query) {
        queries.push(query);
        return fakes.page;
      },
      async remove(principal, id) {
        const { status } = findTask(principal, id);
        if (status !== "pending") throw new Problem("task_not_pending", { status });
        stored.delete(id);
      },
    },
    callbacks: {
      async admit(address) {
        callbackSources.push(address);
      },
      async resolve(id, body) {
        received.push({ id, body });
        const task = stored.get(awaited.get(id) ?? "");
        if (task === undefined) throw new Problem("callback_unknown");
        const { status } = task;
        if (status !== "waiting" && status !== "polling")
          throw new Problem("callback_not_awaited", { status });
        const result = { statusCode: 200, headers: {}, body, duration: 0 };
        const ended: Task = { ...task, status: "completed", result, completedAt: NOW };
        stored.set(task.id, ended);
        awaited.delete(id);
        return ended;
      },
    },
    signingSecrets: {
      get: async () => ({ secret: `whsec_${rotations}`, createdAt: NOW, previousValidUntil: null }),
      async rotate() {
        rotations += 1;
        return { secret: `whsec_${rotations}`, createdAt: NOW, previousValidUntil: NOW };
      },
      secretsFor: () => [],
    },
    queues: {
      async create(principal, name, settings) {
        if (queues.has(key(principal, name))) throw new Problem("queue_exists", { name });
        return putQueue(principal, { ...newFakeQueue(principal, name), ...settings });
      },
      list: async (principal) => [...queues.values()].filter((queue) => queue.teamId === principal.teamId),
      get: async (principal, name) => findQueue(principal, name),
      update: async (principal, name, changes) =>
        putQueue(principal, { ...findQueue(principal, name), ...changes }),
      setPaused: async (principal, name, paused) =>
        putQueue(principal, { ...findQueue(principal, name), paused }),
      async remove(principal, name) {
        findQueue(principal, name);
        if (name === "default") throw new Problem("queue_default_kept");
        queues.delete(key(principal, name));
      },
    },
  };
  const owner = principalOf(1);
  putQueue(owner, newFakeQueue(owner, "default"));
  return fakes;
}

function newFakeQueue({ teamId }: Principal, name: string): QueueWithStats {
  const stats = { pending: 1, active: 2, waiting: 3, polling: 4, completed: 5, failed: 6 };
  return { ...QUEUE_DEFAULTS, teamId, id: 1, name, paused: false, createdAt: NOW, updatedAt: NOW, stats };
}

function isCalledBack({ shape, follow }: Task): boolean {
  return shape === "direct" || follow.waitForCallback || follow.pollConfig !== null;
}

function newFakeCallback(number: number): { id: string; url: string } {
  const id = number.toString(16).padStart(64, "0");
  return { id, url: `http://127.0.0.1:8787/v1/callbacks/${id}` };
}

function newFakeTask(
  { teamId }: Principal,
  request: TaskRequest,
  providers: Pick<ProviderService, "find">,
): Task {
  return {
    teamId,
    id: newTaskUuid(),
    shape: request.shape,
    queue: request.queue,
    status: "pending",
    call: request.call,
    priority: request.priority,
    maxRetries: request.maxRetries ?? QUEUE_DEFAULTS.maxRetries,
    backoff: request.backoff ?? QUEUE_DEFAULTS.backoff,
    timeoutSeconds: request.timeoutSeconds ?? QUEUE_DEFAULTS.timeoutSeconds,
    follow: followUpOf(request, providers.find),
    onCompleteUrl: request.onCompleteUrl,
    sign: request.sign,
    tags: request.tags,
    metadata: request.metadata,
    sandbox: false,
    runAt: request.runAt ?? new Date(NOW.getTime() + request.delaySeconds * 1000),
    createdAt: NOW,
    startedAt: null,
    completedAt: null,
    attempts: [],
    result: null,
    error: null,
    failureReason: null,
  };
}
