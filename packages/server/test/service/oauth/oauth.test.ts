import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createLimitsOf } from "../../../src/domain/limits.ts";
import { createAccessLookup } from "../../../src/service/access/principals.ts";
import { hashSecret } from "../../../src/service/access/secret-hash.ts";
import { createMemberService } from "../../../src/service/people/member-service.ts";
import { principalOf } from "../../test-principal.ts";
import { createGate } from "../../test-sql.ts";
import { CALLBACK, codeForm, newPkce, type OAuthScene, openOAuthScene, refusedAs } from "./oauth-scene.ts";

describe("tokens of OAuth applications", () => {
  let scene: OAuthScene;
  before(async () => {
    scene = await openOAuthScene();
  });
  after(() => scene.drop());

  /** Holds one statement up until the test lets it go on. */
  function holdUp(held: string) {
    const gate = createGate();
    scene.watched.before = async (statement) => {
      if (statement !== held) return;
      scene.watched.before = () => {};
      await gate.wait();
    };
    return gate;
  }

  it("are issued for a code: access and refresh token with the person's role", async () => {
    const application = await scene.register();
    const answer = await scene.tokensFor(application, { scope: "tasks:read" });

    assert.equal(answer.token_type, "Bearer");
    assert.equal(answer.expires_in, 3600);
    assert.equal(answer.scope, "tasks:read");
    assert.match(answer.refresh_token, /^bhr_[0-9a-f]{64}$/);
    const principal = await scene.whoIs(answer.access_token);
    assert.deepEqual(
      { ...principal, scopes: [...(principal?.scopes ?? [])], tokenHash: principal?.tokenHash?.length },
      {
        teamId: scene.team,
        team: principal?.team,
        environment: "live",
        kind: "application",
        id: application.clientId,
        name: "Reports",
        userId: scene.ada.userId,
        role: "member",
        scopes: ["tasks:read"],
        plan: "free",
        requestsPerMinute: 60,
        limits: createLimitsOf()("free", null),
        tokenHash: 32,
      },
    );
  });

  it("are stored as hashes, as are codes and secrets", async () => {
    const application = await scene.register();
    const { code, verifier } = await scene.codeFor(application);
    const answer = await scene.exchange(application, codeForm(code, verifier));
    const id = (await scene.signer.verify(answer.access_token))?.id ?? "";

    const [dump] = await scene.database.rows<{ text: string }>(
      `select (select string_agg(a::text, '') from oauth_applications a) ||
              (select string_agg(c::text, '') from oauth_codes c) ||
              (select string_agg(t::text, '') from oauth_tokens t) ||
              (select string_agg(e::text, '') from audit_events e) as text`,
    );
    assert.ok(dump?.text.includes(hashSecret(id).toString("hex")));
    for (const secret of [application.clientSecret, code, id, answer.refresh_token ?? "-"]) {
      assert.ok(!dump?.text.includes(secret.replace(/^bh._/, "")));
      assert.ok(!dump?.text.includes(Buffer.from(secret).toString("hex")));
    }
  });

  it("have fixed claims: a request cannot choose the audience", async () => {
    const application = await scene.register({ grantTypes: ["client_credentials"], redirectUris: [] });
    const form = { grant_type: "client_credentials", audience: "bellhop:session", aud: "bellhop:session" };
    const { access_token: token } = await scene.exchange(application, form);

    const [head, claims] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
    assert.equal(JSON.parse(head ?? "").typ, "at+jwt");
    const { aud, sub, iss, ...rest } = JSON.parse(claims ?? "");
    assert.deepEqual([aud, sub, iss], ["bellhop:api", application.clientId, "bellhop"]);
    assert.deepEqual(Object.keys(rest).sort(), ["exp", "iat", "jti"]);
  });

  describe("a code", () => {
    it("works once; a second use revokes all its tokens, including refreshed ones", async () => {
      const application = await scene.register();
      const { code, verifier } = await scene.codeFor(application);
      const first = await scene.exchange(application, codeForm(code, verifier));
      const second = await scene.refresh(application, first.refresh_token ?? "");

      await assert.rejects(
        scene.exchange(application, codeForm(code, verifier)),
        refusedAs("invalid_grant", /used before/),
      );

      assert.equal(await scene.whoIs(first.access_token), null);
      assert.equal(await scene.whoIs(second.access_token), null);
      await assert.rejects(
        scene.refresh(application, second.refresh_token ?? ""),
        refusedAs("invalid_grant"),
      );
    });

    it("used concurrently is exchanged once, and its tokens are revoked", async () => {
      const application = await scene.register();
      for (let round = 0; round < 5; round += 1) {
        const { code, verifier } = await scene.codeFor(application);
        const results = await Promise.allSettled(
          Array.from({ length: 4 }, () => scene.exchange(application, codeForm(code, verifier))),
        );

        const won = results.filter((result) => result.status === "fulfilled");
        assert.equal(won.length, 1);
        for (const result of results)
          if (result.status === "rejected") refusedAs("invalid_grant")(result.reason);
        assert.equal(await scene.whoIs(won[0]?.value.access_token ?? ""), null);
      }
    });

    it("waits for a running exchange before it counts as a replay", async () => {
      const application = await scene.register();
      const { code, verifier } = await scene.codeFor(application);
      const gate = holdUp("insert_access_token");
      const first = scene.exchange(application, codeForm(code, verifier));
      await gate.reached;
      const second = scene.exchange(application, codeForm(code, verifier)).catch((error: unknown) => error);
      await scene.blocked();
      gate.open();

      const { access_token: token } = await first;
      refusedAs("invalid_grant")(await second);
      assert.equal(await scene.whoIs(token), null);
    });

    it("revokes the tokens of a running refresh when it is replayed", async () => {
      const application = await scene.register();
      const { code, verifier } = await scene.codeFor(application);
      const { refresh_token: token = "" } = await scene.exchange(application, codeForm(code, verifier));
      const gate = holdUp("insert_access_token");
      const refreshed = scene.refresh(application, token);
      await gate.reached;
      const replayed = scene.exchange(application, codeForm(code, verifier)).catch((error: unknown) => error);
      await scene.blocked();
      gate.open();

      const outcome = await refreshed.catch(() => null);
      refusedAs("invalid_grant")(await replayed);
      assert.equal(outcome === null ? null : await scene.whoIs(outcome.access_token), null);
    });

    it("requires the verifier of its challenge, and survives a wrong one", async () => {
      const application = await scene.register();
      const { code, verifier } = await scene.codeFor(application);
      const { code_verifier: _, ...without } = codeForm(code, verifier);

      await assert.rejects(
        scene.exchange(application, without),
        refusedAs("invalid_request", /code_verifier is required/),
      );
      for (const wrong of [newPkce().verifier, "short", `${verifier}x`, "x".repeat(129)])
        await assert.rejects(scene.exchange(application, codeForm(code, wrong)), refusedAs("invalid_grant"));
      assert.ok((await scene.exchange(application, codeForm(code, verifier))).access_token);
    });

    it("does not accept the challenge as the verifier", async () => {
      const application = await scene.register();
      const pkce = newPkce();
      const { code } = await scene.codeFor(application, {}, { pkce });

      await assert.rejects(
        scene.exchange(application, codeForm(code, pkce.challenge)),
        refusedAs("invalid_grant"),
      );
    });

    it("cannot be used by another application, and stays valid after it tried", async () => {
      const application = await scene.register();
      const thief = await scene.register({ name: "Thief" });
      const { code, verifier } = await scene.codeFor(application);

      await assert.rejects(scene.exchange(thief, codeForm(code, verifier)), refusedAs("invalid_grant"));
      assert.ok((await scene.exchange(application, codeForm(code, verifier))).access_token);
    });

    it("requires the exact redirect URI of its request", async () => {
      const application = await scene.register({ redirectUris: [CALLBACK, `${CALLBACK}2`] });
      const { code, verifier } = await scene.codeFor(application);

      for (const wrong of [`${CALLBACK}2`, `${CALLBACK}/`, `${CALLBACK}?x=1`])
        await assert.rejects(
          scene.exchange(application, codeForm(code, verifier, wrong)),
          refusedAs("invalid_grant"),
        );
      const { redirect_uri: _, ...without } = codeForm(code, verifier);
      await assert.rejects(scene.exchange(application, without), refusedAs("invalid_request"));
    });

    it("expires after a minute, and is then refused", async () => {
      const application = await scene.register();
      const { code, verifier } = await scene.codeFor(application);
      const [row] = await scene.database.rows<{ seconds: number }>(
        "select extract(epoch from expires_at - created_at)::integer as seconds from oauth_codes where hash = $1",
        [hashSecret(code)],
      );
      await scene.database.rows("update oauth_codes set expires_at = now() where hash = $1", [
        hashSecret(code),
      ]);

      assert.equal(row?.seconds, 60);
      await assert.rejects(scene.exchange(application, codeForm(code, verifier)), refusedAs("invalid_grant"));
    });

    it("that is unknown or malformed is refused", async () => {
      const application = await scene.register();
      for (const code of ["x", "\0", "🔑", "f".repeat(64), "'; drop table oauth_codes --"])
        await assert.rejects(
          scene.exchange(application, codeForm(code, newPkce().verifier)),
          refusedAs("invalid_grant"),
        );
    });

    it("gives the authorized scopes, not those of the exchange request", async () => {
      const application = await scene.register();
      const { code, verifier } = await scene.codeFor(application, { scope: "tasks:read" });
      const form = { ...codeForm(code, verifier), scope: "tasks:write team:write" };

      assert.equal((await scene.exchange(application, form)).scope, "tasks:read");
    });

    it("gives no refresh token to an application without that grant", async () => {
      const application = await scene.register({ grantTypes: ["authorization_code"] });
      const { code, verifier } = await scene.codeFor(application);
      const answer = await scene.exchange(application, codeForm(code, verifier));

      assert.equal("refresh_token" in answer, false);
    });
  });

  describe("a refresh token", () => {
    it("works once and is replaced; the earlier access token stays valid", async () => {
      const application = await scene.register();
      const first = await scene.tokensFor(application);
      const second = await scene.refresh(application, first.refresh_token);

      assert.notEqual(second.refresh_token, first.refresh_token);
      assert.notEqual(second.access_token, first.access_token);
      assert.equal(second.scope, first.scope);
      assert.ok(await scene.whoIs(first.access_token));
      assert.ok(await scene.whoIs(second.access_token));
      assert.ok(await scene.refresh(application, second.refresh_token ?? ""));
    });

    it("that is used twice ends the whole authorization", async () => {
      const application = await scene.register();
      const other = await scene.tokensFor(application);
      const first = await scene.tokensFor(application);
      const second = await scene.refresh(application, first.refresh_token);

      await assert.rejects(
        scene.refresh(application, first.refresh_token),
        refusedAs("invalid_grant", /used before/),
      );

      assert.equal(await scene.whoIs(first.access_token), null);
      assert.equal(await scene.whoIs(second.access_token), null);
      await assert.rejects(
        scene.refresh(application, second.refresh_token ?? ""),
        refusedAs("invalid_grant"),
      );
      // Another consent of the same person is another authorization.
      assert.ok(await scene.whoIs(other.access_token));
    });

    it("that is used concurrently leaves no valid token", async () => {
      const application = await scene.register();
      const { refresh_token: token } = await scene.tokensFor(application);
      const results = await Promise.allSettled([
        scene.refresh(application, token),
        scene.refresh(application, token),
      ]);

      const won = results.filter((result) => result.status === "fulfilled");
      assert.equal(won.length, 1);
      assert.equal(await scene.whoIs(won[0]?.value.access_token ?? ""), null);
    });

    it("cannot add scopes, may narrow them, and survives a request for too many", async () => {
      const application = await scene.register();
      const { refresh_token: token } = await scene.tokensFor(application, {
        scope: "tasks:read tasks:write",
      });

      for (const scope of ["tokens:use", "tasks:read tokens:use", "team:write", "nonsense", " tasks:read"])
        await assert.rejects(scene.refresh(application, token, scope), refusedAs("invalid_scope"));
      const narrow = await scene.refresh(application, token, "tasks:read");
      assert.equal(narrow.scope, "tasks:read");
      assert.deepEqual([...((await scene.whoIs(narrow.access_token))?.scopes ?? [])], ["tasks:read"]);
    });

    it("without a scope gets all granted scopes again after a narrower refresh", async () => {
      const application = await scene.register();
      const scope = "tasks:read tasks:write";
      let { refresh_token: token } = await scene.tokensFor(application, { scope });
      for (const asked of ["tasks:read", "tasks:write", undefined, "tasks:read", "tasks:read tasks:write"]) {
        const next = await scene.refresh(application, token, asked);
        assert.equal(next.scope, asked ?? scope);
        const scopes = (await scene.whoIs(next.access_token))?.scopes;
        assert.deepEqual([...(scopes ?? [])].sort(), next.scope.split(" ").sort());
        token = next.refresh_token ?? "";
        await assert.rejects(scene.refresh(application, token, "tokens:use"), refusedAs("invalid_scope"));
      }
    });

    it("can be neither used nor revoked by another application", async () => {
      const application = await scene.register();
      const thief = await scene.register();
      const { refresh_token: token } = await scene.tokensFor(application);

      await assert.rejects(scene.refresh(thief, token), refusedAs("invalid_grant"));
      await scene.revoke(thief, token);
      assert.ok(await scene.refresh(application, token));
    });

    it("expires after 30 days, and is then refused", async () => {
      const application = await scene.register();
      const { refresh_token: token } = await scene.tokensFor(application);
      const hash = hashSecret(token);
      const [row] = await scene.database.rows<{ days: number }>(
        `select extract(day from refresh_expires_at - created_at)::integer as days
           from oauth_tokens where refresh_hash = $1`,
        [hash],
      );
      await scene.database.rows(
        "update oauth_tokens set refresh_expires_at = now() where refresh_hash = $1",
        [hash],
      );

      assert.equal(row?.days, 30);
      await assert.rejects(scene.refresh(application, token), refusedAs("invalid_grant"));
    });
  });

  describe("client credentials", () => {
    const robot = { grantTypes: ["client_credentials"], redirectUris: [] } as const;

    it("act for the application's team as an admin, without a refresh token", async () => {
      const application = await scene.register(robot);
      const answer = await scene.exchange(application, { grant_type: "client_credentials" });

      assert.equal(answer.scope, "tasks:read tasks:write tokens:use");
      assert.equal("refresh_token" in answer, false);
      const principal = await scene.whoIs(answer.access_token);
      assert.deepEqual(
        [principal?.teamId, principal?.role, principal?.userId, principal?.kind],
        [scene.owner, "admin", null, "application"],
      );
    });

    it("get fewer scopes on request, and never more than the application has", async () => {
      const application = await scene.register(robot);
      const ask = (scope: string) => scene.exchange(application, { grant_type: "client_credentials", scope });

      assert.equal((await ask("tokens:use")).scope, "tokens:use");
      await assert.rejects(ask("tasks:read team:write"), refusedAs("invalid_scope", /team:write/));
      await assert.rejects(ask("task:read"), refusedAs("invalid_scope", /did you mean tasks:read/));
    });

    it("are refused with a malformed list of scopes (RFC 6749, 3.3)", async () => {
      const application = await scene.register(robot);
      for (const scope of [" tasks:read", "  ", " ", " nonsense", "tasks:read ", "tasks:read  tokens:use"])
        await assert.rejects(
          scene.exchange(application, { grant_type: "client_credentials", scope }),
          refusedAs("invalid_scope"),
          JSON.stringify(scope),
        );
    });

    it("are refused to an application without that grant, as are other grants", async () => {
      const application = await scene.register(robot);
      const web = await scene.register();

      await assert.rejects(
        scene.exchange(web, { grant_type: "client_credentials" }),
        refusedAs("unauthorized_client"),
      );
      await assert.rejects(
        scene.exchange(application, codeForm("x", newPkce().verifier)),
        refusedAs("unauthorized_client"),
      );
      await assert.rejects(
        scene.exchange(application, { grant_type: "refresh_token", refresh_token: "x" }),
        refusedAs("unauthorized_client"),
      );
      for (const grant of [
        "password",
        "implicit",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "__proto__",
      ])
        await assert.rejects(
          scene.exchange(application, { grant_type: grant }),
          refusedAs("unsupported_grant_type"),
        );
      await assert.rejects(scene.exchange(application, {}), refusedAs("invalid_request", /grant_type/));
    });

    it("count as requests of the application's team", async () => {
      const application = await scene.register(robot);
      scene.limit = { limit: 60, remaining: 0, resetSeconds: 0, retryAfterSeconds: 9 };
      try {
        await assert.rejects(scene.exchange(application, { grant_type: "client_credentials" }), {
          code: "rate_limited",
          retryAfterSeconds: 9,
        });
      } finally {
        scene.limit = { limit: null, remaining: 0, resetSeconds: 0, retryAfterSeconds: null };
      }
    });
  });

  describe("the end of access", () => {
    it("follows for the whole authorization when its access or refresh token is revoked", async () => {
      const application = await scene.register();
      for (const kind of ["access_token", "refresh_token"] as const) {
        const first = await scene.tokensFor(application);
        const second = await scene.refresh(application, first.refresh_token);

        await scene.revoke(application, second[kind] ?? "");

        assert.equal(await scene.whoIs(first.access_token), null, kind);
        assert.equal(await scene.whoIs(second.access_token), null, kind);
        await assert.rejects(
          scene.refresh(application, second.refresh_token ?? ""),
          refusedAs("invalid_grant"),
        );
      }
    });

    it("is recorded once in the audit log of the person's team, with its reason", async () => {
      const team = await scene.newTeam();
      const person = await scene.join(team, "audited@example.test", "member");
      const application = await scene.register();
      const ends: Record<string, () => Promise<unknown>> = {
        revoked: async () => {
          const { access_token: token } = await scene.tokensFor(application, {}, person);
          await scene.revoke(application, token);
          await scene.revoke(application, token);
        },
        refresh_token_replayed: async () => {
          const { refresh_token: token } = await scene.tokensFor(application, {}, person);
          await scene.refresh(application, token);
          for (let times = 0; times < 2; times += 1)
            await assert.rejects(scene.refresh(application, token), refusedAs("invalid_grant"));
        },
        code_replayed: async () => {
          const { code, verifier } = await scene.codeFor(application, {}, { person });
          await scene.exchange(application, codeForm(code, verifier));
          for (let times = 0; times < 2; times += 1)
            await assert.rejects(
              scene.exchange(application, codeForm(code, verifier)),
              refusedAs("invalid_grant"),
            );
        },
      };
      for (const [reason, end] of Object.entries(ends)) {
        await end();

        const [last, before] = (await scene.log(team)).reverse();
        assert.equal(before?.action, "application.authorized", reason);
        assert.deepEqual(last, {
          action: "application.access_ended",
          requester: "Reports",
          target: application.clientId,
          detail: { name: "Reports", reason },
        });
      }
    });

    it("follows for one token of client credentials, revoked by its own application only", async () => {
      const application = await scene.register({ grantTypes: ["client_credentials"], redirectUris: [] });
      const stranger = await scene.register();
      const newToken = () => scene.exchange(application, { grant_type: "client_credentials" });
      const [one, other] = [await newToken(), await newToken()];

      await scene.revoke(stranger, one.access_token);
      assert.ok(await scene.whoIs(one.access_token));
      await scene.revoke(application, one.access_token);
      assert.equal(await scene.whoIs(one.access_token), null);
      assert.ok(await scene.whoIs(other.access_token));
      for (const unknown of ["nonsense", "a.b.c", "\0", "bhr_x"]) await scene.revoke(application, unknown);
    });

    it("does not follow for a session when an application revokes its token", async () => {
      const application = await scene.register();
      const { session } = await scene.signIn(scene.team, "eve@example.test", "member");

      await scene.revoke(application, session);

      assert.ok(await scene.oauth.findVisitor(session));
    });

    it("follows when the row of the access token expires", async () => {
      const application = await scene.register();
      const { access_token: token } = await scene.tokensFor(application);
      const id = (await scene.signer.verify(token))?.id ?? "";
      await scene.database.rows("update oauth_tokens set access_expires_at = now() where access_hash = $1", [
        hashSecret(id),
      ]);

      assert.equal(await scene.whoIs(token), null);
    });

    it("applies to a signed token without a row", async () => {
      const subject = scene.ada.id;
      const expiresAt = new Date(Date.now() + 60_000);
      const forged = await scene.signer.sign({ use: "access", id: "made up", subject, expiresAt });

      assert.equal(await scene.whoIs(forged), null);
    });

    it("follows for all tokens, codes and the secret when the application is deleted", async () => {
      const application = await scene.register();
      const { access_token: token, refresh_token: refresh } = await scene.tokensFor(application);
      const { code, verifier } = await scene.codeFor(application);
      const form = codeForm(code, verifier);

      await scene.applications.remove(principalOf(scene.owner), application.clientId);

      assert.equal(await scene.whoIs(token), null);
      await assert.rejects(scene.exchange(application, form), refusedAs("invalid_client"));
      await assert.rejects(scene.refresh(application, refresh), refusedAs("invalid_client"));
      assert.equal((await scene.review(application)).result, "refused");
      await assert.rejects(scene.applications.remove(principalOf(scene.owner), application.clientId), {
        code: "application_not_found",
      });
    });

    it("follows for a new token when the application is deleted during the exchange", async () => {
      const application = await scene.register();
      const { code, verifier } = await scene.codeFor(application);
      const gate = holdUp("insert_access_token");
      const exchanged = scene.exchange(application, codeForm(code, verifier));
      await gate.reached;
      const removed = scene.applications.remove(principalOf(scene.owner), application.clientId);
      await scene.blocked();
      gate.open();

      const { access_token: token } = await exchanged;
      await removed;
      assert.equal(await scene.whoIs(token), null);
    });

    it("follows for the old client secret, but not for tokens, after a rotation", async () => {
      const application = await scene.register();
      const { refresh_token: refresh, access_token: token } = await scene.tokensFor(application);

      const rotated = await scene.applications.rotate(principalOf(scene.owner), application.clientId);

      assert.notEqual(rotated.clientSecret, application.clientSecret);
      assert.ok(await scene.whoIs(token));
      await assert.rejects(scene.refresh(application, refresh), refusedAs("invalid_client"));
      assert.ok(await scene.refresh({ ...application, clientSecret: rotated.clientSecret }, refresh));
    });

    it("follows when the person leaves the team, even if they join again", async () => {
      const application = await scene.register();
      const members = createMemberService({ database: scene.database });
      const bob = await scene.join(scene.team, "bob@example.test", "member");
      const { access_token: token, refresh_token: refresh } = await scene.tokensFor(application, {}, bob);
      const { code, verifier } = await scene.codeFor(application, {}, { person: bob });
      const admin = await scene.join(scene.team, "root@example.test", "owner");

      await members.remove(admin, bob.userId);

      assert.equal(await scene.whoIs(token), null);
      await scene.join(scene.team, "bob@example.test", "member");
      assert.equal(await scene.whoIs(token), null);
      await assert.rejects(scene.refresh(application, refresh), refusedAs("invalid_grant"));
      await assert.rejects(scene.exchange(application, codeForm(code, verifier)), refusedAs("invalid_grant"));
    });

    it("follows when the membership of the person is gone", async () => {
      const application = await scene.register();
      const eve = await scene.join(scene.team, "eve@example.test", "member");
      const { access_token: token, refresh_token: refresh } = await scene.tokensFor(application, {}, eve);

      await scene.database.rows("delete from team_members where user_id = $1", [eve.userId]);

      assert.equal(await scene.whoIs(token), null);
      await assert.rejects(scene.refresh(application, refresh), refusedAs("invalid_grant"));
    });

    it("follows for a new token when the person is removed during the refresh", async () => {
      const application = await scene.register();
      const members = createMemberService({ database: scene.database });
      const carol = await scene.join(scene.team, "carol@example.test", "member");
      const admin = await scene.join(scene.team, "root@example.test", "owner");
      const { refresh_token: refresh } = await scene.tokensFor(application, {}, carol);
      const gate = holdUp("insert_access_token");
      const refreshed = scene.refresh(application, refresh);
      await gate.reached;
      const removed = members.remove(admin, carol.userId);
      await scene.blocked();
      gate.open();

      const { access_token: token } = await refreshed;
      await removed;
      await scene.join(scene.team, "carol@example.test", "member");
      assert.equal(await scene.whoIs(token), null);
    });

    it("is partial when the person's role is lowered", async () => {
      const application = await scene.register();
      const dan = await scene.join(scene.team, "dan@example.test", "admin");
      const { access_token: token } = await scene.tokensFor(application, {}, dan);
      assert.equal((await scene.whoIs(token))?.role, "admin");

      await scene.database.rows("update team_members set role = 'viewer' where user_id = $1", [dan.userId]);

      assert.equal((await scene.whoIs(token))?.role, "viewer");
    });
  });

  it("are looked up by one statement", async () => {
    const application = await scene.register();
    const { access_token: token } = await scene.tokensFor(application);
    const id = (await scene.signer.verify(token))?.id ?? "";
    const sent = scene.watched.sent.length;

    assert.ok(await createAccessLookup(scene.watched)(hashSecret(id)));
    assert.deepEqual(scene.watched.sent.slice(sent), ["find_access"]);
  });
});
