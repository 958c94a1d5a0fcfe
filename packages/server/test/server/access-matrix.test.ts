import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { pino } from "pino";
import type { Scope } from "../../src/domain/identity/scope.ts";
import { parseId } from "../../src/domain/public-id.ts";
import { composeApi } from "../../src/server/compose-api.ts";
import { REFERENCE } from "../places.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { openTestServer } from "../test-server.ts";
import { ACCESS_ROWS, type AccessRow } from "./access-rows.ts";
import { type Answer, openWorld, type World, type WorldTeam } from "./access-world.ts";
import { AUDIT_ROWS } from "./audit-rows.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const RANK = ["owner", "admin", "member", "viewer"];

describe("access to the routes of the server", () => {
  let test: TestDatabase;
  let server: ServerProcess;
  let world: World;
  /** Further teams: the number of objects that a team may have is limited. */
  let audited: World;

  before(async () => {
    test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    server = await startServer({
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_VAULT_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
      BELLHOP_TRUST_PROXY: "127.0.0.1",
      BELLHOP_EGRESS: "any",
      BELLHOP_SIGN_UP: "open",
    });
    world = await openWorld(server, test.database);
    audited = await openWorld(server, test.database);
  });
  after(async () => {
    await world.close();
    await audited.close();
    server.signal("SIGKILL");
    await server.exited;
    await test.drop();
  });

  /** The actions in the audit log of the audited team, the oldest first. */
  async function recordedActions(): Promise<string[]> {
    const rows = await test.database.rows<{ action: string }>(
      "select action from audit_events a join teams t on t.id = a.team_id where t.public_id = $1 order by a.id",
      [parseId("team", audited.ours.id)],
    );
    return rows.map(({ action }) => action);
  }

  it("is tested by one row for every route", async () => {
    assert.deepEqual(await routesOfTheServer(), Object.keys(ACCESS_ROWS).sort());
  });

  for (const [route, row] of Object.entries(ACCESS_ROWS)) {
    const [method = "", pattern = ""] = route.split(" ");

    const ask = async (credential: string | null, team: WorldTeam = world.ours, named?: string) => {
      const id = named ?? (await row.make?.(world, team)) ?? "";
      const ids = id.split(" ");
      const path = (row.path ?? pattern.replace(/:\w+/g, () => ids.shift() ?? "")) + (row.query ?? "");
      return world.call(credential, method, path, row.bodyOf?.(id) ?? row.body, row.headers);
    };

    describe(route, () => {
      const { unknown } = row;
      if (row.scope === "public") {
        it("answers as declared to a request without a credential", async () =>
          assert.equal((await ask(null)).status, row.status));
        return;
      }

      it("refuses a request without a credential", async () => {
        const answer = await ask(null);
        refused(answer, 401, "API key required");
        assert.equal(answer.headers["www-authenticate"], "Bearer");
      });

      it("refuses a key that was revoked with 401", async () =>
        refused(await ask(world.revokedKey), 401, "Invalid or revoked API key"));

      it("refuses a session that has expired with 401", async () =>
        refused(await ask(world.expiredSession), 401, "Invalid or expired token"));

      it("serves a live key, or requires a session", async () =>
        expected(await ask(world.ours.liveKey), row, "api_key", "admin"));

      it("serves a test key as a member in the sandbox, and refuses it elsewhere", async () => {
        const answer = await ask(
          world.ours.testKey,
          world.ours,
          await (row.makeTest ?? row.makeSandbox ?? row.make)?.(world, world.ours),
        );
        if (row.live === true) refused(answer, 403, "Not available to test keys");
        else expected(answer, row, "test_key", "member");
      });

      const { makeTest } = row;
      if (makeTest !== undefined) {
        it("answers 404 to a test key for live objects, and to a live key for test objects", async () => {
          assert.equal((await ask(world.ours.testKey)).status, 404);
          const own = await makeTest(world, world.ours);
          assert.equal((await ask(world.ours.liveKey, world.ours, own)).status, 404);
        });
      }

      const { makeSandbox } = row;
      if (makeSandbox !== undefined) {
        it("gives a test key the same answer for live objects as for unknown ones", async () => {
          const live = await ask(world.ours.testKey);
          const nobodys = await ask(world.ours.testKey, world.ours, unknown);
          assert.equal(live.status, 404);
          assert.deepEqual(live.json, nobodys.json);
        });

        it("serves the sandbox to all credentials of its team, and to no other team", async () => {
          const reach = async (credential: string) => {
            const answer = await ask(credential, world.ours, await makeSandbox(world, world.ours));
            return answer.status;
          };
          assert.equal(await reach(world.ours.liveKey), row.status);
          assert.equal(await reach(world.ours.owner), row.status);
          assert.equal(await reach(world.others.testKey), 404);
        });
      }

      it("serves a viewer only where the route changes nothing", async () =>
        expected(
          await ask(row.endsSession ? await world.ours.newViewer() : world.ours.viewer),
          row,
          "session",
          "viewer",
        ));

      it("serves an application with all scopes, unless a session is required", async () =>
        expected(await ask(world.withEveryScope), row, "application", "admin"));

      it("records what it changes in the audit log, as declared", async () => {
        const { ours } = audited;
        const id = (await row.make?.(audited, ours)) ?? "";
        const keyOrOwner =
          row.scope === "session" ? ours.owner : row.test === true ? ours.testKey : ours.liveKey;
        const credential = row.endsSession ? await ours.newViewer() : keyOrOwner;
        const before = await recordedActions();
        await ask(credential, ours, id);
        const action = AUDIT_ROWS[route];
        assert.deepEqual(
          (await recordedActions()).slice(before.length),
          action === undefined ? [] : [action],
        );
      });

      if (row.scope !== "any" && row.scope !== "session") {
        const scope: Scope = row.scope;
        it("refuses an application that has all scopes but the required one", async () =>
          refused(
            await ask(world.withoutScope.get(scope) ?? ""),
            403,
            `Insufficient scope: ${scope} required`,
          ));
      }

      if (unknown !== undefined) {
        it("gives the same answer for another team's objects as for unknown ones", async () => {
          const credential = row.scope === "session" ? world.ours.owner : world.ours.liveKey;
          const id = (await row.make?.(world, world.others)) ?? "";
          const foreign = await ask(credential, world.ours, id);
          const nobodys = await ask(credential, world.ours, unknown);
          assert.equal(nobodys.status, 404);
          assert.equal(foreign.status, 404);
          assert.equal(
            JSON.stringify(foreign.json).replaceAll(id, "…"),
            JSON.stringify(nobodys.json).replaceAll(unknown, "…"),
          );
        });
      }
    });
  }

  it("is limited to the own team in every list", async () => {
    const canary = "canary-of-the-others";
    const { liveKey, owner } = world.others;
    await world.call(liveKey, "POST", "/v1/queues", { name: canary });
    await world.call(liveKey, "POST", "/v1/tasks", {
      queue: canary,
      webhook_url: "http://127.0.0.1:9/",
      delay: 3600,
    });
    await world.call(liveKey, "POST", "/v1/schedules", {
      name: canary,
      cron: "0 0 1 1 *",
      task: { targetUrl: "http://127.0.0.1:9/" },
    });
    await world.call(liveKey, "POST", "/v1/tokens", { name: canary, value: "Bearer x" });
    await world.call(liveKey, "POST", "/v1/apikeys", { name: canary });
    await world.call(liveKey, "POST", "/v1/team/invitations", { email: `${canary}@example.test` });
    await world.call(liveKey, "POST", "/v1/oauth/applications", {
      name: canary,
      scopes: ["tasks:read"],
      grantTypes: ["client_credentials"],
    });
    await world.others.newAuthorization(canary);
    await world.call(owner, "POST", "/v1/teams", { name: canary });

    for (const [route, row] of Object.entries(ACCESS_ROWS)) {
      if (!route.startsWith("GET ") || row.scope === "public" || row.make !== undefined) continue;
      const path = `${route.slice(4)}${/tasks|audit/.test(route) ? "?limit=100" : ""}`;
      const seen = (answer: Answer) => JSON.stringify(answer.json).includes(canary);
      assert.equal(seen(await world.call(world.ours.owner, "GET", path)), false, route);
    }
  });

  it("ends at once on the node that revoked the key or deleted the application", async () => {
    const { liveKey } = world.ours;
    const uses = async (credential: string) => (await world.call(credential, "GET", "/v1/me")).status;
    const { json } = await world.call(liveKey, "POST", "/v1/apikeys", { name: "Short-lived" });
    assert.equal(await uses(json.apiKey.key), 200);
    await world.call(liveKey, "DELETE", `/v1/apikeys/${json.apiKey.id}`);
    assert.equal(await uses(json.apiKey.key), 401);

    assert.equal(await uses(world.withEveryScope), 200);
    const me = await world.call(world.withEveryScope, "GET", "/v1/me");
    await world.call(liveKey, "DELETE", `/v1/oauth/applications/${me.json.id}`);
    assert.equal(await uses(world.withEveryScope), 401);
    assert.equal(await uses(liveKey), 200);
  });

  it("ends with the sign-out of a session, and for no other session", async () => {
    assert.equal((await world.call(world.others.viewer, "DELETE", "/v1/auth/session")).status, 200);
    refused(await world.call(world.others.viewer, "GET", "/v1/me"), 401, "Invalid or expired token");
    assert.equal((await world.call(world.others.owner, "GET", "/v1/me")).status, 200);
  });
});

function refused({ status, json }: Answer, expectedStatus: number, error: string): void {
  const { code, ...said } = json;
  assert.equal(typeof code, "string");
  assert.deepEqual({ status, said }, { status: expectedStatus, said: { error } });
}

/** What the row says of one who shows a credential of this kind and has this role, with every scope. */
function expected(answer: Answer, row: AccessRow, kind: string, role: string): void {
  const { role: needed = "viewer" } = row;
  if (row.scope === "session" && kind !== "session") {
    refused(answer, 403, "Session required: sign in by magic link");
  } else if (RANK.indexOf(role) > RANK.indexOf(needed)) {
    refused(answer, 403, `Insufficient role: ${needed} required`);
  } else if (row.test === true && kind !== "test_key") {
    refused(answer, 403, "Only available to test keys");
  } else {
    assert.equal(answer.status, row.status, JSON.stringify(answer.json));
    // What the hook adds that asked for the credential.
    assert.equal(answer.headers["cache-control"], "no-store");
  }
}

/** As the server registers them; the pages of the reference belong to a library. */
async function routesOfTheServer(): Promise<string[]> {
  const routes: string[] = [];
  const server = await openTestServer();
  const app = await composeApi(server.services, () => null, {
    log: pino({ level: "silent" }),
    version: "test",
    publicUrl: "https://bellhop.test",
    bodyLimitBytes: 10_000,
    reference: REFERENCE,
    onRoute: ({ method, url }) => routes.push(`${method} ${url}`),
  });
  await app.close();
  await server.close();
  return routes.filter((route) => !route.startsWith("HEAD ") && !/^GET \/docs/.test(route)).sort();
}
