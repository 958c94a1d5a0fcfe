import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Role } from "../../src/domain/identity/role.ts";
import type { Scope } from "../../src/domain/identity/scope.ts";
import { principalOf } from "../test-principal.ts";
import { OTHER_TEAM_KEY } from "./fake-services.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const AT = "2026-03-01T09:30:00.123Z";
const PATH = "/v1/oauth/authorizations";
const GONE = { error: "Authorization not found or already ended" };

describe("what people have allowed applications", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  function signIn(email: string, role: Role) {
    const { credential, userId } = api.services.people.signIn(1, email, role);
    return { userId, email, headers: { authorization: `Bearer ${credential}` } };
  }
  const allow = (person: { userId: string; email: string }) =>
    api.services.authorizations.allow(1, person.userId, person.email);
  const idsSeenBy = async (headers: Record<string, string>): Promise<string[]> =>
    (await api.call("GET", PATH, undefined, headers)).body.authorizations.map(({ id }: { id: string }) => id);

  it("is listed with who allowed it, to whom, what and until when", async () => {
    const ada = signIn("shown@example.com", "viewer");
    const { id, application, user } = allow(ada);

    const { status, body } = await api.call("GET", PATH, undefined, ada.headers);

    assert.equal(status, 200);
    assert.match(id, /^auth_[0-9a-z]{26}$/);
    assert.deepEqual(body, {
      authorizations: [
        {
          id,
          application: { clientId: application.clientId, name: "Reports", team: "Difference Ltd" },
          user: { id: user.id, email: "shown@example.com" },
          scopes: ["tasks:read", "tokens:use"],
          createdAt: AT,
          expiresAt: "2026-03-01T10:30:00.123Z",
        },
      ],
    });
  });

  it("is ended by whoever allowed it, whatever the role, and then is not there", async () => {
    for (const role of ["viewer", "member", "admin", "owner"] as const) {
      const person = signIn(`ends-${role}@example.com`, role);
      const { id } = allow(person);

      const ended = await api.call("DELETE", `${PATH}/${id}`, undefined, person.headers);
      const again = await api.call("DELETE", `${PATH}/${id}`, undefined, person.headers);

      assert.deepEqual([ended.status, ended.body], [200, { authorization: { id, endedAt: AT } }], role);
      assert.deepEqual([again.status, again.body], [404, GONE], role);
      assert.ok(!(await idsSeenBy(person.headers)).includes(id), role);
    }
  });

  it("is seen and ended by an admin for every member, by nobody else", async () => {
    const { id } = allow(signIn("watched@example.com", "member"));
    for (const role of ["viewer", "member"] as const) {
      const { headers } = signIn(`looks-${role}@example.com`, role);
      const { status, body } = await api.call("DELETE", `${PATH}/${id}`, undefined, headers);
      assert.deepEqual([status, body], [403, { error: "Insufficient role: admin required" }], role);
      assert.deepEqual(await idsSeenBy(headers), [], role);
    }
    const { headers } = signIn("looks-admin@example.com", "admin");
    assert.equal((await idsSeenBy(headers))[0], id);
    assert.equal((await api.call("DELETE", `${PATH}/${id}`, undefined, headers)).status, 200);
  });

  it("is unknown to another team, like what is nobody's", async () => {
    const { id } = allow(signIn("foreign@example.com", "member"));
    const stranger = { authorization: `Bearer ${OTHER_TEAM_KEY}` };

    assert.deepEqual(await idsSeenBy(stranger), []);
    for (const name of [id, "auth_01k9z3mxe5f8hrk3yv5pzq8c2d", "nonsense", "%00", "x".repeat(5000)]) {
      const { status, body } = await api.call("DELETE", `${PATH}/${name}`, undefined, stranger);
      assert.deepEqual([status, body], [404, GONE], name.slice(0, 30));
    }
  });

  it("goes by scope, for applications: to read to see it, to write to end it", async () => {
    const { id } = allow(signIn("scoped@example.com", "member"));
    const ask = (method: "GET" | "DELETE", path: string, scope: Scope) => {
      const robot = principalOf(1, { kind: "application", scopes: new Set([scope]) });
      api.services.people.signedIn.set("x.y.z", robot);
      return api.call(method, path, undefined, { authorization: "Bearer x.y.z" });
    };

    const unread = await ask("GET", PATH, "team:write");
    assert.deepEqual([unread.status, unread.body.error], [403, "Insufficient scope: team:read required"]);
    const kept = await ask("DELETE", `${PATH}/${id}`, "team:read");
    assert.deepEqual([kept.status, kept.body.error], [403, "Insufficient scope: team:write required"]);
    assert.equal((await ask("GET", PATH, "team:read")).status, 200);
    assert.equal((await ask("DELETE", `${PATH}/${id}`, "team:write")).status, 200);
  });

  it("takes no body and no parameters", async () => {
    const { id } = allow(signIn("strict@example.com", "member"));

    assert.equal((await api.call("GET", `${PATH}?user=x`)).status, 400);
    assert.equal((await api.call("DELETE", `${PATH}/${id}?force=1`)).status, 400);
    assert.equal((await api.call("DELETE", `${PATH}/${id}`, { reason: "x" })).status, 400);
    assert.equal((await api.call("DELETE", `${PATH}/${id}`)).status, 200);
  });
});
