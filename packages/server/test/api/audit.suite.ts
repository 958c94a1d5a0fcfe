import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { newUuid } from "../../src/service/new-uuid.ts";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";
import type { Credential } from "./test-team.ts";

const FIELDS = ["id", "at", "actor", "action", "target", "detail", "address", "requestId"];

describe("GET /v1/audit", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const get = (query = "", headers: Partial<Credential> = {}) =>
    api.call("GET", `/v1/audit${query}`, undefined, headers);
  const createQueue = (name: string, headers: Credential) =>
    api.call("POST", "/v1/queues", { name }, headers);

  it("shows every field of each event, and the cursor of the next page", async () => {
    const { id, signIn } = await api.openTeam();
    const ada = await signIn("ada", "owner");
    const detail = { name: "Replicate", deep: { n: 1, none: null } };
    const ids = [newUuid(), newUuid()];
    await api.server.database.rows(
      `insert into audit_events (team_id, id, actor_kind, actor_id, actor_name, action, target, detail)
       values ($1, $2, 'operator', 'root', 'root', 'team.plan_changed', 'team_1', null),
              ($1, $3, 'operator', 'root', 'root', 'team.plan_changed', 'team_1', $4)`,
      [id, ...ids, JSON.stringify(detail)],
    );
    const created = await api.send({
      method: "POST",
      url: "/v1/tokens",
      remoteAddress: "192.0.2.7",
      headers: { ...ada.headers, "x-request-id": "r-1" },
      payload: { name: "Replicate", value: "secret", allowedHosts: ["a.example"] },
    });

    const { status, body } = await get("?limit=3", ada.headers);

    assert.equal(status, 200);
    const [newest, structured, bare] = body.events;
    assert.deepEqual(newest, {
      id: newest.id,
      at: newest.at,
      actor: { kind: "session", id: ada.id, name: ada.email },
      action: "vault_token.created",
      target: created.body.token.id,
      detail: { name: "Replicate", allowedHosts: ["a.example"] },
      address: "192.0.2.7",
      requestId: "r-1",
    });
    assertNow(newest.at);
    assert.match(newest.id, /^evt_[0-9a-z]{26}$/);
    const byOperator = {
      actor: { kind: "operator", id: "root", name: "root" },
      action: "team.plan_changed",
      target: "team_1",
      address: null,
      requestId: null,
    };
    assert.deepEqual(structured, { ...byOperator, id: structured.id, at: structured.at, detail });
    assert.deepEqual(bare, { ...byOperator, id: bare.id, at: bare.at, detail: null });
    for (const event of body.events) assert.deepEqual(Object.keys(event), FIELDS);
    assert.deepEqual(body.pagination, { limit: 3, hasMore: true, nextCursor: bare.id });
  });

  it("has no next cursor on the last page", async () => {
    const { headers } = await api.openTeam();

    const { body } = await get("", headers);

    assert.deepEqual(body, { events: [], pagination: { limit: 20, hasMore: false, nextCursor: null } });
  });

  it("accepts limit (default 20), cursor and action, and lists only the caller's team", async () => {
    const { headers: ours } = await api.openTeam();
    const { headers: theirs } = await api.openTeam();
    for (let number = 1; number <= 21; number += 1) await createQueue(`q-${number}`, ours);
    await createQueue("of-the-others", theirs);
    await api.call("POST", "/v1/queues/q-1/pause", undefined, ours);
    const targets = async (query: string, headers = ours): Promise<string[]> =>
      (await get(query, headers)).body.events.map(({ target }: { target: string }) => target);

    const first = (await get("", ours)).body;
    assert.deepEqual([first.events.length, first.pagination.limit, first.pagination.hasMore], [20, 20, true]);
    assert.deepEqual(await targets(`?limit=100&cursor=${first.pagination.nextCursor}`), ["q-2", "q-1"]);
    assert.deepEqual(await targets("?action=queue.paused"), ["q-1"]);
    assert.equal((await targets("?limit=100&action=queue.created")).length, 21);
    assert.deepEqual(await targets("", theirs), ["of-the-others"]);
  });

  it("refuses invalid and unknown parameters, with the rule that each breaks", async () => {
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
      assert.deepEqual([status, body], [400, { error, code: "invalid" }], query);
    }
  });

  it("requires the admin role, and the team:read scope from applications", async () => {
    const { team } = api;
    for (const role of ["member", "viewer"] as const) {
      const { status, body } = await get("", (await team.signIn(role, role)).headers);
      assert.deepEqual(
        [status, body],
        [403, { error: "Insufficient role: admin required", code: "role_missing" }],
      );
    }
    const { status, body } = await get("", (await team.application("tasks:read", "team:write")).headers);
    assert.deepEqual(
      [status, body],
      [403, { error: "Insufficient scope: team:read required", code: "scope_missing" }],
    );
    assert.equal((await get("", (await team.signIn("owner", "owner")).headers)).status, 200);
    assert.equal((await get("", (await team.application("team:read")).headers)).status, 200);
  });

  it("checks the credential before the parameters", async () => {
    assert.equal((await get("?limit=0", { authorization: "" })).status, 401);
  });
});
