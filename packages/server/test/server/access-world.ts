import { randomUUID } from "node:crypto";
import { Agent, request } from "undici";
import { SCOPES, type Scope } from "../../src/domain/identity/scope.ts";
import { formatId, parseId } from "../../src/domain/public-id.ts";
import { hashSecret, newSecret } from "../../src/service/access/secret-hash.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import type { TextSql } from "../test-sql.ts";
import type { ServerProcess } from "./server-process.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each asserted on by the test that asked
type Json = any;

export interface Answer {
  readonly status: number;
  readonly json: Json;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A team with one credential of each kind that counts. */
export interface WorldTeam {
  readonly id: string;
  readonly liveKey: string;
  readonly testKey: string;
  readonly owner: string;
  readonly viewer: string;
  /** For what ends a session. */
  newViewer(): Promise<string>;
  /** A person of the team whom nothing else depends on. */
  newMember(): Promise<string>;
  /** What such a person has allowed an application of this name. */
  newAuthorization(applicationName: string): Promise<string>;
}

export interface World {
  readonly ours: WorldTeam;
  readonly others: WorldTeam;
  readonly revokedKey: string;
  readonly expiredSession: string;
  /** Access tokens of an application of our team that was granted everything but this. */
  readonly withoutScope: ReadonlyMap<Scope, string>;
  /** Granted everything there is. */
  readonly withEveryScope: string;
  call(
    credential: string | null,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** As if every notification had used up its tries. */
  giveUpNotifications(): Promise<void>;
  /** As if the first attempt of this task had failed, and it had no other. */
  fail(taskId: string): Promise<void>;
  /** As if the attempts of the team's default queue to this host had failed. */
  openBreaker(team: WorldTeam, host: string): Promise<void>;
  /** Ends every delivery to a webhook. */
  giveUpDeliveries(): Promise<void>;
  close(): Promise<void>;
}

/** Two teams on a running server, made through its own doors wherever there is one. */
export async function openWorld(server: Pick<ServerProcess, "url">, sql: TextSql): Promise<World> {
  const agent = new Agent();
  let calls = 0;

  /** Every call from an address of its own: limits per address are not what is tested here. */
  const call: World["call"] = async (credential, method, path, body, more = {}) => {
    calls += 1;
    const address = `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`;
    const answer = await request(`${server.url}${path}`, {
      dispatcher: agent,
      method: method as "GET",
      headers: {
        "x-forwarded-for": address,
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.headers["content-type"]?.toString().startsWith("text/event-stream")) {
      answer.body.on("error", () => {}).destroy();
      return { status: answer.statusCode, json: null, headers: answer.headers };
    }
    const text = await answer.body.text();
    // A machine that is busy with other things may have kept the database from answering in time.
    if (answer.statusCode === 503) return call(credential, method, path, body, more);
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    return { status: answer.statusCode, json: isJson ? JSON.parse(text) : text, headers: answer.headers };
  };

  async function openTeam(name: string): Promise<WorldTeam> {
    const [team] = await sql.rows<{ id: number; public_id: string }>(
      "insert into teams (name, plan) values ($1, 'enterprise') returning id, public_id",
      [name],
    );
    const teamId = team?.id ?? 0;
    await sql.rows(
      `insert into queues (team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, timeout_seconds)
       values ($1, 'default', 5, 3, 'fixed', 1, 30)`,
      [teamId],
    );
    const liveKey = `bh_live_${newSecret()}`;
    await sql.rows(
      `insert into api_keys (id, team_id, name, environment, prefix, hash) values ($1, $2, 'First', 'live', 'bh_live_', $3)`,
      [newUuid(), teamId, hashSecret(liveKey)],
    );
    const addMember = async (role: string) => {
      const email = `${role}-${randomUUID()}@example.test`;
      const userId = newUuid();
      await sql.rows("insert into users (id, email) values ($1, $2)", [userId, email]);
      await sql.rows("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [
        teamId,
        userId,
        role,
      ]);
      return { email, userId };
    };
    const signIn = async (role: string) => {
      const { email } = await addMember(role);
      const token = newSecret();
      await sql.rows(
        "insert into sign_in_links (email, hash, expires_at) values ($1, $2, now() + interval '15 minutes')",
        [email, hashSecret(token)],
      );
      return (await call(null, "POST", "/v1/auth/session", { token })).json.session.token;
    };
    const newAuthorization = async (applicationName: string) => {
      const { json } = await call(liveKey, "POST", "/v1/oauth/applications", {
        name: applicationName,
        scopes: ["tasks:read"],
        redirectUris: ["https://reports.example/cb"],
      });
      const { userId } = await addMember("member");
      const consentId = newUuid();
      await sql.rows(
        `insert into oauth_tokens (id, access_hash, application_id, team_id, user_id, code_hash, consent_id,
                                   consented_at, scopes, access_expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, now(), '{tasks:read}', now() + interval '1 hour')`,
        [
          newUuid(),
          hashSecret(newSecret()),
          parseId("app", json.application.clientId),
          teamId,
          userId,
          hashSecret(newSecret()),
          consentId,
        ],
      );
      return formatId("auth", consentId);
    };
    const testKey = await call(liveKey, "POST", "/v1/apikeys", { name: "Sandbox", environment: "test" });
    return {
      id: formatId("team", team?.public_id ?? ""),
      liveKey,
      testKey: testKey.json.apiKey.key,
      owner: await signIn("owner"),
      viewer: await signIn("viewer"),
      newViewer: () => signIn("viewer"),
      newAuthorization,
      newMember: async () => formatId("user", (await addMember("member")).userId),
    };
  }

  const ours = await openTeam("Ours");
  const others = await openTeam("Others");
  const revoked = await call(ours.liveKey, "POST", "/v1/apikeys", { name: "Revoked" });
  await call(ours.liveKey, "DELETE", `/v1/apikeys/${revoked.json.apiKey.id}`);

  const before = new Set((await sessionHashes(sql)).map(String));
  const expired = await openTeam("Expired");
  for (const hash of await sessionHashes(sql)) {
    if (before.has(String(hash))) continue;
    await sql.rows("update sessions set expires_at = now() - interval '1 second' where hash = $1", [hash]);
  }

  const { json: registered } = await call(ours.liveKey, "POST", "/v1/oauth/applications", {
    name: "Robot",
    scopes: SCOPES,
    grantTypes: ["client_credentials"],
  });
  const grant = async (scopes: readonly Scope[]): Promise<string> => {
    const { clientId, clientSecret } = registered.application;
    const answer = await request(`${server.url}/v1/oauth/token`, {
      dispatcher: agent,
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
        scope: scopes.join(" "),
      }).toString(),
    });
    const json: Json = await answer.body.json();
    return json.access_token;
  };
  const withoutScope = new Map<Scope, string>();
  for (const scope of SCOPES) withoutScope.set(scope, await grant(SCOPES.filter((other) => other !== scope)));

  return {
    ours,
    others,
    revokedKey: revoked.json.apiKey.key,
    expiredSession: expired.owner,
    withoutScope,
    withEveryScope: await grant(SCOPES),
    call,
    async giveUpNotifications() {
      await sql.rows(
        "update notifications set status = 'failed', worker_id = null, fence = fence + 1 where status = 'pending'",
      );
    },
    async openBreaker(team, host) {
      await sql.rows(
        `insert into breakers (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
         select q.team_id, q.id, $2, 'open', 20, now(), now() + interval '1 hour', 30, 1
           from queues q join teams t on t.id = q.team_id where t.public_id = $1 and q.name = 'default'`,
        [parseId("team", team.id), host],
      );
    },
    async giveUpDeliveries() {
      await sql.rows(
        "update webhook_deliveries set status = 'failed', worker_id = null, fence = fence + 1 where status = 'pending'",
      );
    },
    async fail(taskId) {
      const attempt = {
        number: 1,
        status: "failed",
        code: 500,
        at: "2030-01-01T00:00:00Z",
        ms: 1,
        phase: "responded",
      };
      await sql.rows(
        `update tasks set status = 'failed', list_key = 'failed', due_at = null, completed_at = now(), attempt_count = 1,
                          attempts = $2::jsonb, error = 'no', failure_reason = 'retries_exhausted' where id = $1`,
        [taskId, JSON.stringify([{ ...attempt, error: "no" }])],
      );
    },
    close: () => agent.close(),
  };
}

async function sessionHashes(sql: TextSql): Promise<Buffer[]> {
  return (await sql.rows<{ hash: Buffer }>("select hash from sessions")).map(({ hash }) => hash);
}
