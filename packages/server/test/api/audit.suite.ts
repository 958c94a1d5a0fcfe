import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { AuditEvent } from "../../src/domain/identity/audit-event.ts";
import type { Principal } from "../../src/domain/identity/principal.ts";
import { formatId } from "../../src/domain/public-id.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { principalOf } from "../test-principal.ts";
import { NOW, OTHER_TEAM_KEY } from "./fake-services.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

const EVENT: AuditEvent = {
  id: "evt_01k9z3mxe5f8hrk3yv5pzq8c2d",
  at: NOW,
  actor: { kind: "session", id: "user_01k9z3mxe5f8hrk3yv5pzq8c2d", name: "ada@example.com" },
  action: "vault_token.created",
  target: "tok_01k9z3mxe5f8hrk3yv5pzq8c2d",
  detail: { name: "Replicate", allowedHosts: ["a.example"], deep: { n: 1, none: null } },
  address: "192.0.2.7",
  requestId: "r-1",
};
const BY_OPERATOR: AuditEvent = {
  ...EVENT,
  actor: { kind: "operator", id: "root", name: "root" },
  detail: null,
  address: null,
  requestId: null,
};

describe("GET /v1/audit", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  after(() => api.app.close());

  const get = (query = "", headers: Record<string, string> = {}) =>
    api.call("GET", `/v1/audit${query}`, undefined, headers);
  const lastQuery = () => api.services.auditQueries.at(-1);

  it("shows each event whole, and where the list goes on", async () => {
    api.services.auditPage = { events: [EVENT, BY_OPERATOR], hasMore: true, nextCursor: EVENT.id };

    const { status, body } = await get("?limit=2");

    assert.equal(status, 200);
    assert.deepEqual(body, {
      events: [
        { ...EVENT, at: "2026-03-01T09:30:00.123Z" },
        { ...BY_OPERATOR, at: "2026-03-01T09:30:00.123Z" },
      ],
      pagination: { limit: 2, hasMore: true, nextCursor: EVENT.id },
    });
    assert.deepEqual(Object.keys(body.events[0] ?? {}), Object.keys(EVENT));
  });

  it("ends with a page that has no next", async () => {
    api.services.auditPage = { events: [], hasMore: false, nextCursor: null };

    const { body } = await get();

    assert.deepEqual(body, { events: [], pagination: { limit: 20, hasMore: false, nextCursor: null } });
  });

  it("takes limit (default 20), cursor and action, and asks for the caller's team", async () => {
    await get();
    assert.deepEqual(lastQuery(), { teamId: 1, action: null, limit: 20, cursor: null });
    const uuid = newUuid();
    await get(`?limit=100&action=api_key.revoked&cursor=${formatId("evt", uuid)}`, {
      authorization: `Bearer ${OTHER_TEAM_KEY}`,
    });
    assert.deepEqual(lastQuery(), { teamId: 2, action: "api_key.revoked", limit: 100, cursor: uuid });
  });

  it("refuses every other parameter by its rule", async () => {
    const limit = "limit must be an integer between 1 and 100";
    const cursor = "cursor must be the nextCursor of a page";
    const action = "action must be an action such as queue.created";
    const cases: [string, string][] = [
      ["limit=0", limit],
      ["limit=101", limit],
      ["limit=1.5", limit],
      ["limit=", limit],
      ["limit=1&limit=2", limit],
      ["cursor=abc", cursor],
      ["cursor=", cursor],
      ["cursor=%00", cursor],
      [`cursor=${newUuid()}`, cursor],
      ["cursor=task_01k9z3mxe5f8hrk3yv5pzq8c2d", cursor],
      ["action=", action],
      ["action=%00", action],
      ["action=created", action],
      ["action=a.b&action=a.c", action],
      ["offset=1", 'Unknown field "offset"'],
      ["actions=a.b", 'Unknown field "actions" (did you mean "action"?)'],
    ];
    for (const [query, error] of cases) {
      const { status, body } = await get(`?${query}`);
      assert.deepEqual([status, body], [400, { error }], query);
    }
  });

  it("is for admins, and for applications that may read the team", async () => {
    const getAs = (own: Partial<Principal>) => {
      api.services.people.signedIn.set("someone", principalOf(1, own));
      return get("", { authorization: "Bearer someone" });
    };
    for (const role of ["member", "viewer"] as const) {
      const { status, body } = await getAs({ role });
      assert.deepEqual([status, body], [403, { error: "Insufficient role: admin required" }]);
    }
    const { status, body } = await getAs({ scopes: new Set(["tasks:read", "team:write"]) });
    assert.deepEqual([status, body], [403, { error: "Insufficient scope: team:read required" }]);
    assert.equal((await getAs({ role: "owner" })).status, 200);
    assert.equal((await getAs({ scopes: new Set(["team:read"]) })).status, 200);
  });

  it("asks for a credential first", async () => {
    assert.equal((await get("?limit=0", { authorization: "" })).status, 401);
  });
});
