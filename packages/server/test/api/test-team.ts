import assert from "node:assert/strict";
import type { InjectOptions } from "fastify";
import type { Mail } from "../../src/domain/identity/mail.ts";
import type { Role } from "../../src/domain/identity/role.ts";
import type { Scope } from "../../src/domain/identity/scope.ts";
import { formatId } from "../../src/domain/public-id.ts";
import { newApiKey, storeApiKey } from "../../src/service/access/api-key-service.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { createTeam } from "../../src/service/people/team-service.ts";
import { ensureMember } from "../../src/store/identity/members.ts";
import type { TextDatabase } from "../test-sql.ts";
import type { Answer } from "./test-api.ts";

export type Credential = { readonly authorization: string };

export interface TestPerson {
  readonly email: string;
  /** `user_…`. */
  readonly id: string;
  readonly session: string;
  readonly headers: Credential;
}

/** A team without a limit of requests, and credentials of every kind for it. */
export interface TestTeam {
  readonly id: number;
  readonly name: string;
  /** Live, and called "Test key". */
  readonly key: string;
  readonly headers: Credential;
  newKey(environment: "live" | "test"): Promise<Credential>;
  /** Makes a person a member, who then signs in by mail. The address is the person's alone, whatever the name. */
  signIn(name: string, role: Role): Promise<TestPerson>;
  /** An application of the team that acts on its own, within these scopes. */
  application(...scopes: Scope[]): Promise<{ readonly clientId: string; readonly headers: Credential }>;
}

export async function openTestTeam(
  server: {
    readonly database: TextDatabase;
    readonly mails: readonly Mail[];
    send(request: InjectOptions): Promise<Answer>;
  },
  name = "Analytical Engines",
): Promise<TestTeam> {
  const { database, send } = server;
  const id = await database.transaction((sql) => createTeam(sql, name, "enterprise"));
  const newKey = async (environment: "live" | "test") => {
    const key = newApiKey(environment);
    await storeApiKey(database, id, "Test key", key);
    return key;
  };
  const key = await newKey("live");
  const headers = bearer(key);
  const post = async (url: string, payload: object, more = {}) => {
    const answer = await send({ method: "POST", url, payload, headers: { ...more } });
    assert.ok(answer.status < 300, answer.text);
    return answer.body;
  };
  await database.rows("update queues set paused = true where team_id = $1", [id]);

  return {
    id,
    name,
    key,
    headers,
    newKey: async (environment) => bearer(await newKey(environment)),
    async signIn(nickname, role) {
      const email = `${nickname}@team-${id}.example`;
      const userId = await ensureMember(database, id, newUuid(), email, role);
      await post("/v1/auth/magic-link", { email });
      const { session } = await post("/v1/auth/session", { token: linkTokenIn(server.mails.at(-1)) });
      return {
        email,
        id: formatId("user", userId),
        session: session.token,
        headers: bearer(session.token),
      };
    },
    async application(...scopes) {
      const robot = { name: "Robot", scopes, grantTypes: ["client_credentials"] };
      const { application } = await post("/v1/oauth/applications", robot, headers);
      const { clientId: client_id, clientSecret: client_secret } = application;
      const form = { grant_type: "client_credentials", client_id, client_secret };
      const { status, body } = await send({
        method: "POST",
        url: "/v1/oauth/token",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        payload: new URLSearchParams(form).toString(),
      });
      assert.equal(status, 200);
      return { clientId: client_id, headers: bearer(body.access_token) };
    },
  };
}

export function linkTokenIn(mail: Mail | undefined): string {
  return /\/sign-in\/link\?token=(\w+)/.exec(mail?.text ?? "")?.[1] ?? "";
}

export function bearer(credential: string): Credential {
  return { authorization: `Bearer ${credential}` };
}
