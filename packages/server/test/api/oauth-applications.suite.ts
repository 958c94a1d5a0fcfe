import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertNow, createTestApi, type TestApi } from "./test-api.ts";

const REPORTS = {
  name: "Reports",
  redirectUris: ["https://reports.example/cb"],
  scopes: ["tasks:read", "tasks:write"],
};

describe("OAuth applications", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const create = (body: unknown) => api.call("POST", "/v1/oauth/applications", body);
  const refused = async (change: object) => {
    const { status, body } = await create({ ...REPORTS, ...change });
    assert.equal(status, 400, JSON.stringify(body));
    return body.error as string;
  };

  it("are registered, and show their secret once", async () => {
    const { status, body } = await create({ ...REPORTS, grantTypes: ["authorization_code"] });

    assert.equal(status, 201);
    const { clientId, clientSecret, createdAt } = body.application;
    assertNow(createdAt);
    assert.match(clientId, /^app_[0-9a-z]{26}$/);
    assert.match(clientSecret, /^bhs_/);
    const shown = { ...REPORTS, clientId, grantTypes: ["authorization_code"], createdAt };
    assert.deepEqual(body, { application: { ...shown, clientSecret } });
    const list = await api.call("GET", "/v1/oauth/applications");
    assert.deepEqual(list.body.applications[0], shown);
  });

  it("get authorization_code and refresh_token by default", async () => {
    const { body } = await create(REPORTS);

    assert.deepEqual(body.application.grantTypes, ["authorization_code", "refresh_token"]);
  });

  it("need no redirect URI with client_credentials alone", async () => {
    const robot = { name: "Robot", scopes: ["tasks:read"], grantTypes: ["client_credentials"] };
    const { status, body } = await create(robot);

    assert.equal(status, 201);
    assert.deepEqual(body.application.redirectUris, []);
  });

  it("are deleted and their secrets rotated only by their own team", async () => {
    const { clientId, clientSecret } = (await create(REPORTS)).body.application;
    const path = `/v1/oauth/applications/${clientId}`;
    const { headers: stranger } = await api.openTeam();

    for (const [method, url] of [
      ["DELETE", path],
      ["POST", `${path}/rotate`],
    ] as const) {
      const foreign = await api.call(method, url, undefined, stranger);
      const unknown = await api.call(method, url.replace(clientId, "app_nobody"));
      assert.deepEqual(
        [foreign.status, foreign.body],
        [404, { error: "Application not found", code: "application_not_found" }],
      );
      assert.deepEqual(
        [unknown.status, unknown.body],
        [404, { error: "Application not found", code: "application_not_found" }],
      );
    }
    const rotated = await api.call("POST", `${path}/rotate`);
    assert.equal(rotated.status, 200);
    assert.equal(rotated.body.application.clientId, clientId);
    assert.match(rotated.body.application.clientSecret, /^bhs_/);
    assert.notEqual(rotated.body.application.clientSecret, clientSecret);
    const deleted = await api.call("DELETE", path);
    const { deletedAt } = deleted.body.application;
    assertNow(deletedAt);
    assert.deepEqual(
      [deleted.status, deleted.body],
      [200, { application: { clientId, name: "Reports", deletedAt } }],
    );
    assert.equal((await api.call("DELETE", path)).status, 404);
  });

  it("are refused with an unknown or repeated scope, with a suggestion for a typo", async () => {
    assert.equal(
      await refused({ scopes: ["task:read"] }),
      'Unknown scope "task:read" (did you mean "tasks:read"?)',
    );
    assert.equal(await refused({ scopes: ["everything"] }), 'Unknown scope "everything"');
    assert.equal(
      await refused({ scopes: ["tasks:read", "tasks:read"] }),
      'scopes must not hold "tasks:read" twice',
    );
    assert.equal(await refused({ scopes: [] }), "scopes must be an array of 1 to 15 strings");
    assert.equal(await refused({ scopes: undefined }), "scopes is required");
    assert.equal(await refused({ scopes: [1] }), "scopes must be an array of 1 to 15 strings");
  });

  it("are refused with an unknown grant type, or refresh_token without authorization_code", async () => {
    assert.equal(
      await refused({ grantTypes: ["client_credential"] }),
      'Unknown grant type "client_credential" (did you mean "client_credentials"?)',
    );
    assert.equal(await refused({ grantTypes: ["password"] }), 'Unknown grant type "password"');
    assert.equal(
      await refused({ grantTypes: ["refresh_token", "client_credentials"] }),
      "grantTypes must hold authorization_code for refresh_token",
    );
    assert.equal(await refused({ redirectUris: [] }), "redirectUris is required with authorization_code");
    assert.equal(
      await refused({ redirectUris: undefined }),
      "redirectUris is required with authorization_code",
    );
  });

  it("are refused with a redirect URI that others could read or a browser would execute", async () => {
    for (const uri of [
      "http://reports.example/cb",
      "https://reports.example/cb#x",
      "https://reports.example/cb#",
      "https://user@reports.example/cb",
      "https://user:pass@reports.example/",
      "https://@reports.example/",
      "https:reports.example",
      "//reports.example/cb",
      "/cb",
      "reports.example",
      "javascript:alert(1)",
      "JavaScript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "blob:https://reports.example/x",
      "myapp:/cb",
      "https://*.example/cb",
      "https://a.example;script-src.b/",
      "https://a.example\\@b.example/",
      "https://a.example/c b",
      'https://a.example/"',
      "https://a.example/ü",
      "https://a.example/\r\nSet-Cookie:x",
      "http://127.0.0.1.evil.example/cb",
      "http://localhost.evil.example/cb",
      "http://0.0.0.0/cb",
      `https://a.example/${"x".repeat(2000)}`,
      "",
    ])
      assert.match(await refused({ redirectUris: [uri] }), /^redirectUris must hold absolute https/, uri);
    assert.match(
      await refused({ redirectUris: Array(21).fill("https://a.example/") }),
      /an array of 0 to 20 strings/,
    );
    const uri = "https://a.example/";
    assert.equal(await refused({ redirectUris: [uri, uri] }), `redirectUris must not hold "${uri}" twice`);
  });

  it("accept redirect URIs of web, desktop and mobile applications", async () => {
    const redirectUris = [
      "https://a.example",
      "https://a.example:8443/cb?tenant=1",
      "http://127.0.0.1/cb",
      "http://127.0.0.1:4000/cb",
      "http://[::1]:4000/cb",
      "http://localhost:4000/cb",
      "com.example.app:/cb",
      "com.example.app://cb",
    ];
    const { status, body } = await create({ ...REPORTS, redirectUris });

    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(body.application.redirectUris, redirectUris);
  });

  it("require a name without control or direction characters", async () => {
    assert.equal(await refused({ name: " " }), "name is required");
    assert.equal(await refused({ name: "x".repeat(101) }), "name must be a string of 1 to 100 characters");
    assert.equal(await refused({ name: "a\nb" }), "name must be text without control characters");
    assert.match(await refused({ name: "a\u202eb" }), /direction/);
    assert.equal(await refused({ nme: "x" }), 'Unknown field "nme" (did you mean "name"?)');
  });
});
