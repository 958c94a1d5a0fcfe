import { hostname } from "node:os";
import pg from "pg";
import type { Logger } from "pino";
import { createApi } from "./api/server.ts";
import { notificationText } from "./api/tasks/notification-view.ts";
import { composeSignIn } from "./compose-sign-in.ts";
import type { Config } from "./config.ts";
import type { Claim } from "./domain/claim.ts";
import { createEngine, type Engine } from "./engine/engine.ts";
import { createOutgoing } from "./engine/outgoing.ts";
import { createCaller } from "./outbound/caller.ts";
import { createEgressGuard } from "./outbound/egress-guard.ts";
import { createDatabase } from "./postgres/database.ts";
import { assertDurable } from "./postgres/durability.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres/embedded.ts";
import { createListener } from "./postgres/listener.ts";
import { type ConnectionSettings, createPool } from "./postgres/pool.ts";
import { createAccessLookup } from "./service/access/access-principal.ts";
import { createApiKeyService } from "./service/access/api-key-service.ts";
import { createAuthService } from "./service/access/auth-service.ts";
import { createFailureLimit } from "./service/access/failure-limit.ts";
import { createKeyLookup } from "./service/access/key-principal.ts";
import { createRequestLimits } from "./service/access/request-limits.ts";
import { createSourceLimit, VISITS } from "./service/access/source-limit.ts";
import { createSessionLookup, createTokenLookup } from "./service/access/token-principal.ts";
import { createAuditService } from "./service/audit/audit-service.ts";
import { createHealthService } from "./service/health-service.ts";
import { createGrantedAccessService } from "./service/oauth/granted-access-service.ts";
import { createOAuthApplicationService } from "./service/oauth/oauth-application-service.ts";
import { createOAuthService } from "./service/oauth/oauth-service.ts";
import { ensureOperator } from "./service/operator/operator.ts";
import { createInvitationService } from "./service/people/invitation-service.ts";
import { createMemberService } from "./service/people/member-service.ts";
import { createTeamService } from "./service/people/team-service.ts";
import { removeOldRecords } from "./service/retention.ts";
import { createCallbackService } from "./service/tasks/callback-service.ts";
import { createProviderService } from "./service/tasks/provider-service.ts";
import { createQueueService } from "./service/tasks/queue-service.ts";
import { formatTaskId } from "./service/tasks/task-id.ts";
import { createTaskService } from "./service/tasks/task-service.ts";
import { createSigningSecretService } from "./service/vault/signing-secret-service.ts";
import { createVaultService } from "./service/vault/vault-service.ts";
import { migrate } from "./store/migrate.ts";
import type { Sql } from "./store/sql.ts";
import { CHANNEL } from "./store/tasks/hints.ts";
import { findTask } from "./store/tasks/task-reads.ts";
import { removeAllWorkers } from "./store/tasks/workers.ts";
import { systemTime } from "./system-time.ts";
import { openKeyFile } from "./vault/key-file.ts";
import type { KeyRing } from "./vault/key-ring.ts";
import { createRotation } from "./vault/rotation.ts";
import { createVault, type Vault } from "./vault/vault.ts";
import { VERSION } from "./version.ts";

/** Reads of the API: lists, records, queues. */
const API_CONNECTIONS = 8;

/** What the start-up banner tells. */
export interface House {
  readonly url: string;
  readonly database: string;
  readonly dataDir: string | null;
  readonly firstKey: string | null;
  stop(): Promise<void>;
  /** Ends a stop that is under way without waiting for calls. */
  hurry(): void;
}

/** Builds the whole house and opens its door. Whatever was built is torn down again if a later part fails. */
export async function openHouse(config: Config, log: Logger): Promise<House> {
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    return await build(config, log, closers, closeAll);
  } catch (error) {
    await closeAll().catch((err) => log.error({ err }, "stop.failed"));
    throw error;
  }
}

async function build(
  config: Config,
  log: Logger,
  closers: (() => Promise<unknown>)[],
  closeAll: () => Promise<void>,
): Promise<House> {
  // First of all: a mistake in the file must not cost the start of a database.
  const providers = createProviderService(config.providersFile);
  const embedded = config.databaseUrl === null ? await startOwnPostgres(config, log) : null;
  if (embedded !== null) closers.push(embedded.stop);
  const connection = embedded?.connection ?? { connectionString: config.databaseUrl ?? "" };
  const open = (use: string, max: number) => {
    const onError = (err: Error) => log.warn({ use, err }, "database.connection_lost");
    const pool = createPool(connection, { max, applicationName: `bellhop-${use}`, onError });
    closers.push(() => pool.end());
    return pool;
  };

  const apiPool = open("api", API_CONNECTIONS);
  const database = createDatabase(apiPool);
  await assertDurable(apiPool, { allowUnsafe: config.allowUnsafeDatabase });
  for (const name of await migrate(database)) log.info({ migration: name }, "schema.migrated");
  const operator = await ensureOperator(database, config.apiKey, config.ownerEmail);
  // Nobody else can reach the embedded database: who is registered there died with the process before this one.
  if (embedded !== null) await removeAllWorkers(database);
  const keyRing = await chooseKeyRing(config, embedded?.dataDir ?? null);
  const vault = await openVault(keyRing, database, log);

  const guard = createEgressGuard(config.egress);
  const caller = createCaller({ userAgent: `Bellhop/${VERSION}`, guard });
  closers.push(caller.stop);
  const monotonicMs = () => performance.now();
  const signingSecrets = createSigningSecretService({ database, monotonicMs });
  // Known for sure only once the server listens: the port may be any free one.
  let listensAt = "";
  const publicUrl = () => config.publicUrl ?? listensAt;
  const { mailer, signer, signIn, sessions, actors } = composeSignIn({
    config,
    database,
    log,
    monotonicMs,
    publicUrl,
  });
  closers.push(mailer.stop);
  const engine = createEngine({
    databases: {
      lease: createDatabase(open("lease", 1)),
      intake: createDatabase(open("intake", 1)),
      settle: createDatabase(open("settle", 2)),
      claim: createDatabase(open("claim", 2)),
      chores: createDatabase(open("chores", 2)),
      polls: createDatabase(open("polls", 2)),
    },
    outgoing: createOutgoing({
      caller,
      vault,
      signingSecrets: signingSecrets.secretsFor,
      publicUrl,
      nowMs: Date.now,
    }),
    log,
    name: `${hostname()}:${process.pid}`,
    capacity: config.maxInFlight,
    retentionDays: config.retentionDays,
    ownHeaders,
    publicId,
    composeMessage: async (teamId, taskId) => {
      const task = await findTask(database, teamId, taskId);
      return task === null ? null : notificationText(task);
    },
    time: systemTime,
    random: Math.random,
  });
  for (const actor of actors) engine.actors.add(actor);
  engine.actors.add({ name: "retention", once: () => removeOldRecords(database) });
  if (keyRing !== null) {
    engine.actors.add({
      name: "vault-rotation",
      once: createRotation({ sql: database, keyRing }).turnOnce,
    });
  }
  closers.push(() => engine.stop(config.stopGraceSeconds * 1000));
  await engine.start();
  const listener = listen(connection, engine);
  closers.push(listener.stop);

  const findSession = createSessionLookup(database);
  const failures = createFailureLimit({ monotonicMs });
  const limits = createRequestLimits({ sql: database, monotonicMs, nowMs: Date.now });
  const api = await createApi({
    tasks: createTaskService({ database, submit: engine.submit, vault, providers, publicUrl }),
    queues: createQueueService({ database }),
    callbacks: createCallbackService({ sql: database, monotonicMs, onEnded: engine.ended }),
    signingSecrets,
    signIn,
    sessions,
    apiKeys: createApiKeyService({ database }),
    audit: createAuditService({ sql: database }),
    auth: createAuthService({
      findKey: createKeyLookup(database),
      findToken: createTokenLookup({
        signer,
        findSession,
        findAccess: createAccessLookup(database),
      }),
      failures,
      monotonicMs,
    }),
    limits,
    visits: createSourceLimit({ ...VISITS, monotonicMs }),
    applications: createOAuthApplicationService({ database }),
    grantedAccess: createGrantedAccessService({ database }),
    oauth: createOAuthService({ database, signer, findSession, failures, limits, publicUrl }),
    health: createHealthService({ sql: database, isDispatching: engine.lease.isHeld }),
    providers,
    vault: createVaultService({ vault, database }),
    teams: createTeamService({ database }),
    members: createMemberService({ database }),
    invitations: createInvitationService({ database, sendMail: mailer.send, publicUrl }),
    refuseUrl: guard.refuseUrl,
    log,
    version: VERSION,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    bodyLimitBytes: config.bodyLimitBytes,
    ...(config.trustProxy.length > 0 && { trustProxy: [...config.trustProxy] }),
  });
  closers.push(() => api.close());
  const url = await api.listen({ host: config.host, port: config.port });
  listensAt = url;
  return {
    url,
    database: embedded === null ? describe(config.databaseUrl ?? "") : "embedded PostgreSQL",
    dataDir: embedded?.dataDir ?? null,
    firstKey: operator.firstKey,
    stop: closeAll,
    hurry: engine.hurry,
  };
}

function startOwnPostgres(config: Config, log: Logger): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (event, fields) => log[event === "postgres.log" ? "debug" : "info"](fields, event),
  });
}

/** Without keys of the operator's own, only the embedded database has a place to keep one that it makes itself. */
async function chooseKeyRing({ vaultKeys }: Config, dataDir: string | null): Promise<KeyRing | null> {
  if (vaultKeys === "off") return null;
  return vaultKeys ?? (dataDir === null ? null : openKeyFile(dataDir));
}

async function openVault(keyRing: KeyRing | null, sql: Sql, log: Logger): Promise<Vault> {
  const vault = createVault({ sql, keyRing });
  log.info({ keys: keyRing?.ids ?? [] }, keyRing === null ? "vault.off" : "vault.opened");
  const missing = vault.isOpen ? await vault.missingKeys() : [];
  if (missing.length > 0) log.error({ keys: missing }, "vault.keys_missing");
  return vault;
}

function listen(connection: ConnectionSettings, engine: Engine) {
  return createListener({
    connect: () => new pg.Client({ ...connection, application_name: "bellhop-listen", keepAlive: true }),
    channel: CHANNEL,
    onMessage: engine.hear,
    onConnected: engine.lookEverywhere,
  });
}

/** Names the server without its password. */
function describe(databaseUrl: string): string {
  const { host, database } = new pg.Client({ connectionString: databaseUrl });
  return `PostgreSQL at ${host}, database ${database}`;
}

/** The id in the spelling of the shape that the task was created in. */
function publicId({ shape, id }: Claim): string {
  return shape === "queue" ? formatTaskId(id) : id;
}

function ownHeaders(claim: Claim): Record<string, string> {
  const headers: Record<string, string> = {
    "bellhop-task-id": publicId(claim),
    "bellhop-queue": claim.queue,
    "bellhop-attempt": String(claim.attempt),
  };
  if (claim.shape === "queue" && claim.call.body !== null) headers["content-type"] = "application/json";
  return headers;
}
