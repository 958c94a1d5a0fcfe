import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MintedApplication } from "../../../src/domain/identity/oauth-application.ts";
import { readParameters } from "../../../src/service/oauth/parameters.ts";
import { principalOf } from "../../test-principal.ts";
import {
  CALLBACK,
  codeForm,
  ISSUER,
  newPkce,
  type OAuthScene,
  openOAuthScene,
  REPORTS,
} from "./oauth-scene.ts";

describe("an authorization request", () => {
  let scene: OAuthScene;
  let application: MintedApplication;
  before(async () => {
    scene = await openOAuthScene();
    application = await scene.register();
  });
  after(() => scene.drop());

  /** Why nobody is sent anywhere. */
  const refusal = async (change: Record<string, string | null>, of = application) => {
    const review = await scene.review(of, change);
    assert.equal(review.result, "refused", JSON.stringify(review));
    return review.result === "refused" ? review.reason : "";
  };
  /** What the application is told. */
  const told = async (change: Record<string, string | null>, of = application) => {
    const review = await scene.review(of, change);
    assert.equal(review.result, "returned", JSON.stringify(review));
    const url = new URL(review.result === "returned" ? review.location : "");
    assert.equal(url.origin + url.pathname, CALLBACK);
    const { iss, state, error, error_description: description } = Object.fromEntries(url.searchParams);
    assert.deepEqual([iss, state], [ISSUER, "the state"]);
    return { error, description };
  };
  const question = async (change: Record<string, string | null> = {}, of = application) => {
    const review = await scene.review(of, change);
    if (review.result !== "asked") throw new Error(JSON.stringify(review));
    return review.question;
  };

  it("asks the person for consent, with the application, its owner and the scopes", async () => {
    const { applicationName, ownerName, scopes, redirectUri } = await question({
      scope: "tokens:use tasks:read",
    });

    assert.deepEqual(
      { applicationName, ownerName, scopes, redirectUri },
      {
        applicationName: "Reports",
        ownerName: "Difference Ltd",
        scopes: ["tasks:read", "tokens:use"],
        redirectUri: CALLBACK,
      },
    );
  });

  it("asks for all scopes of the application when it has none", async () => {
    assert.deepEqual((await question()).scopes, REPORTS.scopes);
    assert.deepEqual((await question({ scope: "" })).scopes, REPORTS.scopes);
  });

  it("returns code, state and issuer after consent, and is recorded in the person's team", async () => {
    const { allow } = await question({ scope: "tasks:read" });
    const url = new URL(await allow(scene.ada));

    assert.equal(url.origin + url.pathname, CALLBACK);
    const { code, ...rest } = Object.fromEntries(url.searchParams);
    assert.match(code ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, { state: "the state", iss: ISSUER });
    const log = await scene.log(scene.team);
    assert.deepEqual(log.at(-1), {
      action: "application.authorized",
      requester: "ada@example.test",
      target: application.clientId,
      detail: { name: "Reports", scopes: ["tasks:read"] },
    });
  });

  it("returns access_denied with the state after a refusal", async () => {
    const { denied } = await question();

    const { searchParams } = new URL(denied);
    assert.deepEqual(Object.fromEntries(searchParams), {
      error: "access_denied",
      error_description: "The request was denied",
      state: "the state",
      iss: ISSUER,
    });
  });

  it("keeps the query of the redirect URI", async () => {
    const redirectUri = `${CALLBACK}?tenant=a%20b`;
    const own = await scene.register({ redirectUris: [redirectUri] });
    const { allow, denied } = await question({ state: 'a&b="c' }, own);

    for (const location of [await allow(scene.ada), denied]) {
      assert.ok(location.startsWith(`${redirectUri}&`), location);
      assert.equal(new URL(location).searchParams.get("state"), 'a&b="c');
    }
  });

  it("of an unknown application is refused without a redirect", async () => {
    for (const client_id of [null, "app_nobody", "app_01k9z3mxe5f8hrk3yv5pzq8c2d", "\0", application.name])
      assert.match(await refusal({ client_id }), /not known/);
  });

  it("is refused for a redirect URI that only resembles a registered one", async () => {
    for (const redirect_uri of [
      `${CALLBACK}/`,
      `${CALLBACK}2`,
      `${CALLBACK}?x=1`,
      `${CALLBACK}#`,
      `${CALLBACK}/../cb`,
      "https://reports.example/",
      "https://reports.example/CB",
      "https://REPORTS.example/cb",
      "https://reports.example:443/cb",
      "https://reports.example:8443/cb",
      "http://reports.example/cb",
      "https://reports.example.evil.example/cb",
      "https://evil.example/cb",
      "https://evil.example/?x=https://reports.example/cb",
      "https://user@reports.example/cb",
      "https://reports.example@evil.example/cb",
      "https://reports.example\\@evil.example/cb",
      "//reports.example/cb",
      "javascript:alert(1)",
      `${CALLBACK} `,
      ` ${CALLBACK}`,
    ])
      assert.match(await refusal({ redirect_uri }), /not registered/, redirect_uri);
    assert.match(await refusal({ redirect_uri: null }), /did not say/);
    assert.match(await refusal({ redirect_uri: "" }), /did not say/);
  });

  it("accepts any port of a loopback redirect URI, otherwise exact (RFC 8252)", async () => {
    const own = await scene.register({
      redirectUris: ["http://127.0.0.1/cb?a=1", "http://[::1]:9/cb", "http://localhost:9/cb"],
    });
    for (const redirect_uri of [
      "http://127.0.0.1:51004/cb?a=1",
      "http://127.0.0.1/cb?a=1",
      "http://[::1]:51004/cb",
      "http://localhost:9/cb",
    ])
      assert.equal((await question({ redirect_uri }, own)).redirectUri, redirect_uri);
    for (const redirect_uri of [
      "http://127.0.0.1:51004/cb",
      "http://127.0.0.1:51004/cb?a=2",
      "http://127.0.0.1:51004/other?a=1",
      "https://127.0.0.1:51004/cb?a=1",
      "http://127.0.0.2:51004/cb?a=1",
      "http://127.0.0.1:99999/cb?a=1",
      "http://127.0.0.1:1@evil.example/cb?a=1",
      "http://127.0.0.1.evil.example:1/cb?a=1",
      "http://[::1]:51004/cb/",
      "http://localhost:51004/cb",
    ])
      assert.match(await refusal({ redirect_uri }, own), /not registered/, redirect_uri);
  });

  it("gives a code that is valid for the requested port only (RFC 8252)", async () => {
    const own = await scene.register({ redirectUris: ["http://127.0.0.1/cb"] });
    const { code, verifier } = await scene.codeFor(own, { redirect_uri: "http://127.0.0.1:5001/cb" });

    await assert.rejects(scene.exchange(own, codeForm(code, verifier, "http://127.0.0.1:5002/cb")));
    assert.ok(await scene.exchange(own, codeForm(code, verifier, "http://127.0.0.1:5001/cb")));
  });

  it("is refused without a PKCE challenge of method S256", async () => {
    assert.deepEqual(await told({ code_challenge: null }), {
      error: "invalid_request",
      description: "code_challenge is required (RFC 7636)",
    });
    for (const code_challenge_method of [null, "plain", "s256", "S512"])
      assert.equal((await told({ code_challenge_method })).error, "invalid_request");
    for (const code_challenge of ["x", `${newPkce().challenge}=`, `${newPkce().challenge}x`, "\0".repeat(43)])
      assert.equal((await told({ code_challenge })).error, "invalid_request");
  });

  it("is refused for a scope that is unknown or that the application lacks", async () => {
    assert.match(
      (await told({ scope: "task:read" })).description ?? "",
      /Unknown scope task:read \(did you mean/,
    );
    assert.match((await told({ scope: "tasks:read team:write" })).description ?? "", /team:write/);
    for (const scope of [
      "team:write",
      "tasks:read  tasks:write",
      " tasks:read",
      " ",
      "\0",
      "*",
      "tasks:read,tasks:write",
    ])
      assert.equal((await told({ scope })).error, "invalid_scope", scope);
  });

  it("accepts only the response type code and the response mode query", async () => {
    assert.equal((await told({ response_type: null })).error, "invalid_request");
    for (const response_type of ["token", "code token", "id_token"])
      assert.equal((await told({ response_type })).error, "unsupported_response_type");
    for (const response_mode of ["fragment", "form_post"])
      assert.equal((await told({ response_mode })).error, "invalid_request");
    assert.ok(await question({ response_mode: "query" }));
  });

  it("is refused for an application without the authorization code grant", async () => {
    const robot = await scene.register({ grantTypes: ["client_credentials"] });

    assert.equal((await told({}, robot)).error, "unauthorized_client");
  });

  it("is refused with a repeated parameter", async () => {
    const parameters = (twice: string, value: string) =>
      readParameters([
        ["client_id", application.clientId],
        ["redirect_uri", CALLBACK],
        ["response_type", "code"],
        ["code_challenge", newPkce().challenge],
        ["code_challenge_method", "S256"],
        [twice, value],
        [twice, value],
      ]);

    for (const name of ["client_id", "redirect_uri"])
      assert.equal((await scene.oauth.review(parameters(name, CALLBACK))).result, "refused", name);
    for (const name of ["scope", "state", "code_challenge", "whatever"]) {
      const review = await scene.oauth.review(parameters(name, "x"));
      assert.equal(review.result, "returned");
      if (review.result === "returned")
        assert.match(review.location, /error=invalid_request.*more\+than\+once/);
    }
  });

  it("is accepted with parameters that are unknown", async () => {
    assert.ok(await question({ prompt: "consent", nonce: "x", audience: "y", __proto__: "z", code: "c" }));
  });

  it("is refused for a former member, and for a deleted application", async () => {
    const gone = await scene.register();
    const asked = await question({}, gone);
    await scene.applications.remove(principalOf(scene.owner), gone.clientId);
    const stranger = await scene.join(scene.owner, "eve@example.test", "member");

    await assert.rejects(asked.allow(scene.ada), { code: "application_not_found" });
    const { allow } = await question();
    await assert.rejects(allow({ ...stranger, teamId: scene.team }), { code: "session_required" });
    await assert.rejects(allow(principalOf(scene.team)), { code: "session_required" });
  });

  it("gives access to the team of the session only", async () => {
    await scene.join(scene.owner, "ada@example.test", "owner");
    const { access_token: token } = await scene.tokensFor(application);

    const principal = await scene.whoIs(token);
    assert.deepEqual([principal?.teamId, principal?.role], [scene.team, "member"]);
  });

  describe("the visitor of the consent page", () => {
    it("is the person of the session, with the name of its team", async () => {
      const { session, person } = await scene.signIn(scene.team, "grace@example.test", "viewer");
      const visitor = await scene.oauth.findVisitor(session);

      assert.equal(visitor?.teamName, "Analytical Engines");
      assert.deepEqual(
        [visitor?.principal.userId, visitor?.principal.name, visitor?.principal.role],
        [person.userId, "grace@example.test", "viewer"],
      );
    });

    it("is null without a valid session, and for an access token", async () => {
      const { access_token: token } = await scene.tokensFor(application);
      const { session, person } = await scene.signIn(scene.team, "heidi@example.test", "member");

      for (const wrong of [token, "a.b.c", "", `${session}x`])
        assert.equal(await scene.oauth.findVisitor(wrong), null);
      await scene.database.rows("delete from sessions where user_id = $1", [person.userId]);
      assert.equal(await scene.oauth.findVisitor(session), null);
    });

    it("has a form proof that is valid for one page and one session", async () => {
      const { session } = await scene.signIn(scene.team, "ivan@example.test", "member");
      const other = await scene.signIn(scene.team, "judy@example.test", "member");
      const visitor = await scene.oauth.findVisitor(session);
      const stranger = await scene.oauth.findVisitor(other.session);
      const proof = visitor?.formProof("a=1") ?? "";

      assert.match(proof, /^[0-9a-f]{64}$/);
      assert.equal(visitor?.isOwnForm("a=1", proof), true);
      assert.equal(visitor?.isOwnForm("a=2", proof), false);
      assert.equal(stranger?.isOwnForm("a=1", proof), false);
      for (const wrong of ["", "x", proof.toUpperCase().replace(/\d/g, "G"), `${proof}0`, proof.slice(1)])
        assert.equal(visitor?.isOwnForm("a=1", wrong), false);
    });
  });
});
