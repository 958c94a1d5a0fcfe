import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Role } from "../../src/domain/identity/role.ts";
import type { Scope } from "../../src/domain/identity/scope.ts";
import { allow, type RegisteredApplication, registerReports } from "./consent.ts";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";
import type { TestPerson } from "./test-team.ts";

const PATH = "/v1/oauth/authorizations";
/** An application that may refresh its token comes back for so long. */
const REFRESH_SECONDS = 30 * 24 * 3600;
const GONE = { error: "Authorization not found or already ended", code: "authorization_not_found" };

describe("OAuth authorizations", () => {
  let api: TestApi;
  /** Of another team than the people who let it in. */
  let reports: RegisteredApplication;
  before(async () => {
    api = await createTestApi();
    reports = await registerReports(api, {}, await api.openTeam("Difference Ltd"));
  });

  const signIn = (name: string, role: Role) => api.team.signIn(name, role);
  /** The person lets the application in. Returns the id of what was allowed. */
  const letIn = async (person: TestPerson): Promise<string> => {
    await allow(api, reports, person);
    return (await idsSeenBy(person.headers))[0] ?? "";
  };
  const idsSeenBy = async (headers: Record<string, string>): Promise<string[]> =>
    (await api.call("GET", PATH, undefined, headers)).body.authorizations.map(({ id }: { id: string }) => id);

  it("are listed with user, application, scopes and expiry", async () => {
    const ada = await signIn("shown", "viewer");
    const id = await letIn(ada);

    const { status, body } = await api.call("GET", PATH, undefined, ada.headers);

    assert.equal(status, 200);
    assert.match(id, /^auth_[0-9a-z]{26}$/);
    const { createdAt, expiresAt } = body.authorizations[0];
    assert.deepEqual(body, {
      authorizations: [
        {
          id,
          application: { clientId: reports.clientId, name: "Reports", team: "Difference Ltd" },
          user: { id: ada.id, email: ada.email },
          scopes: ["tasks:read", "tokens:use"],
          createdAt,
          expiresAt,
        },
      ],
    });
    assertNow(createdAt);
    assertNow(expiresAt, REFRESH_SECONDS);
  });

  it("are revoked by the user who granted them, with any role, and then answered 404", async () => {
    for (const role of ["viewer", "member", "admin", "owner"] as const) {
      const person = await signIn(`ends-${role}`, role);
      const { headers: access } = await allow(api, reports, person);
      const [id = ""] = await idsSeenBy(person.headers);

      const ended = await api.call("DELETE", `${PATH}/${id}`, undefined, person.headers);
      const again = await api.call("DELETE", `${PATH}/${id}`, undefined, person.headers);

      const { endedAt } = ended.body.authorization;
      assertNow(endedAt);
      assert.deepEqual([ended.status, ended.body], [200, { authorization: { id, endedAt } }], role);
      assert.deepEqual([again.status, again.body], [404, GONE], role);
      assert.ok(!(await idsSeenBy(person.headers)).includes(id), role);
      assert.equal((await api.call("GET", "/v1/me", undefined, access)).status, 401, role);
    }
  });

  it("are seen and revoked by an admin for every member, and by no other member", async () => {
    const id = await letIn(await signIn("watched", "member"));
    for (const role of ["viewer", "member"] as const) {
      const { headers } = await signIn(`looks-${role}`, role);
      const { status, body } = await api.call("DELETE", `${PATH}/${id}`, undefined, headers);
      assert.deepEqual(
        [status, body],
        [403, { error: "Insufficient role: admin required", code: "role_missing" }],
        role,
      );
      assert.deepEqual(await idsSeenBy(headers), [], role);
    }
    const { headers } = await signIn("looks-admin", "admin");
    assert.equal((await idsSeenBy(headers))[0], id);
    assert.equal((await api.call("DELETE", `${PATH}/${id}`, undefined, headers)).status, 200);
  });

  it("are answered 404 to another team, like unknown ones", async () => {
    const id = await letIn(await signIn("foreign", "member"));
    const { headers: stranger } = await api.openTeam();

    assert.deepEqual(await idsSeenBy(stranger), []);
    for (const name of [id, "auth_01k9z3mxe5f8hrk3yv5pzq8c2d", "nonsense", "%00", "x".repeat(5000)]) {
      const { status, body } = await api.call("DELETE", `${PATH}/${name}`, undefined, stranger);
      assert.deepEqual([status, body], [404, GONE], name.slice(0, 30));
    }
  });

  it("require team:read from applications to list them, and team:write to revoke them", async () => {
    const id = await letIn(await signIn("scoped", "member"));
    const ask = async (method: "GET" | "DELETE", path: string, scope: Scope) =>
      api.call(method, path, undefined, (await api.team.application(scope)).headers);

    const unread = await ask("GET", PATH, "team:write");
    assert.deepEqual([unread.status, unread.body.error], [403, "Insufficient scope: team:read required"]);
    const kept = await ask("DELETE", `${PATH}/${id}`, "team:read");
    assert.deepEqual([kept.status, kept.body.error], [403, "Insufficient scope: team:write required"]);
    assert.equal((await ask("GET", PATH, "team:read")).status, 200);
    assert.equal((await ask("DELETE", `${PATH}/${id}`, "team:write")).status, 200);
  });

  it("refuse a body and parameters", async () => {
    const id = await letIn(await signIn("strict", "member"));

    assert.equal((await api.call("GET", `${PATH}?user=x`)).status, 400);
    assert.equal((await api.call("DELETE", `${PATH}/${id}?force=1`)).status, 400);
    assert.equal((await api.call("DELETE", `${PATH}/${id}`, { reason: "x" })).status, 400);
    assert.equal((await api.call("DELETE", `${PATH}/${id}`)).status, 200);
  });
});
