import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import type { MintedApplication } from "../../../src/domain/identity/oauth-application.ts";
import { OAuthRefusal } from "../../../src/domain/identity/oauth-refusal.ts";
import { Problem } from "../../../src/domain/problem.ts";
import { createFailureLimit } from "../../../src/service/access/failure-limit.ts";
import { createSessionLookup } from "../../../src/service/access/principals.ts";
import { createOAuthApplicationService } from "../../../src/service/oauth/oauth-application-service.ts";
import { createOAuthService } from "../../../src/service/oauth/oauth-service.ts";
import { readParameters } from "../../../src/service/oauth/parameters.ts";
import { createMemberService } from "../../../src/service/people/member-service.ts";
import { principalOf } from "../../test-principal.ts";
import { createGate } from "../../test-sql.ts";
import { type OAuthScene, openOAuthScene, REPORTS, refusedAs } from "./oauth-scene.ts";

const ROBOT = { ...REPORTS, grantTypes: ["client_credentials"], redirectUris: [] } as const;

describe("OAuth applications", () => {
  let scene: OAuthScene;
  let robot: MintedApplication;
  before(async () => {
    scene = await openOAuthScene();
    robot = await scene.register(ROBOT);
  });
  after(() => scene.drop());

  it("are listed newest first, without their secrets, to their own team", async () => {
    const team = await scene.newTeam();
    const first = await scene.applications.create(principalOf(team), REPORTS);
    const second = await scene.applications.create(principalOf(team), ROBOT);

    const { items: listed } = await scene.applications.list(principalOf(team));

    assert.deepEqual(
      listed.map(({ clientId }) => clientId),
      [second.clientId, first.clientId],
    );
    const { clientSecret, ...shown } = first;
    assert.match(clientSecret, /^bhs_[0-9a-f]{64}$/);
    assert.deepEqual(listed[1], shown);
  });

  it("cannot be deleted or rotated by another team", async () => {
    const stranger = principalOf(scene.team);

    await assert.rejects(scene.applications.remove(stranger, robot.clientId), {
      code: "application_not_found",
    });
    await assert.rejects(scene.applications.rotate(stranger, robot.clientId), {
      code: "application_not_found",
    });
    await assert.rejects(scene.applications.rotate(principalOf(scene.owner), "app_x"), {
      code: "application_not_found",
    });
  });

  it("have every change in the audit log, without secrets", async () => {
    const team = await scene.newTeam();
    const requester = principalOf(team);
    const made = await scene.applications.create(requester, REPORTS);
    const rotated = await scene.applications.rotate(requester, made.clientId);
    await scene.applications.remove(requester, made.clientId);

    const log = await scene.log(team);
    assert.deepEqual(
      log.map(({ action, target, requester }) => [action, target, requester]),
      [
        ["application.created", made.clientId, "Test key"],
        ["application.secret_rotated", made.clientId, "Test key"],
        ["application.deleted", made.clientId, "Test key"],
      ],
    );
    for (const { clientSecret } of [made, rotated])
      assert.ok(!JSON.stringify(log).includes(clientSecret.slice(4)));
  });

  it("are limited to 100 per team, even with concurrent requests", async () => {
    const team = await scene.newTeam();
    const create = () => scene.applications.create(principalOf(team), ROBOT);
    for (let count = 0; count < 99; count += 1) await create();
    const gate = createGate();
    scene.watched.before = async (statement) => {
      if (statement === "insert_application") await gate.wait();
    };
    const slow = createOAuthApplicationService({ database: scene.watched });
    const last = slow.create(principalOf(team), ROBOT);
    await gate.reached;
    const tooMany = create().catch((error: unknown) => error);
    await scene.blocked();
    gate.open();

    assert.ok((await last).clientId);
    assert.deepEqual(await tooMany, new Problem("applications_full", { limit: "100" }));
    scene.watched.before = () => {};
  });

  it("cannot create or rotate applications with scopes that they lack", async () => {
    const team = await scene.newTeam();
    const wide = await scene.applications.create(principalOf(team), ROBOT);
    const requester = principalOf(team, {
      kind: "application",
      scopes: new Set(["team:write", "tasks:read"]),
    });
    const refused = { code: "scope_missing", message: "Insufficient scope: tasks:write required" };

    await assert.rejects(scene.applications.create(requester, ROBOT), refused);
    await assert.rejects(scene.applications.rotate(requester, wide.clientId), refused);
    assert.ok(await scene.exchange(wide, { grant_type: "client_credentials" }));
    const narrow = await scene.applications.create(requester, { ...ROBOT, scopes: ["tasks:read"] });
    assert.ok(await scene.applications.rotate(requester, narrow.clientId));
  });

  it("give no secret to a person who was just removed or demoted", async () => {
    const team = await scene.newTeam();
    const ada = await scene.join(team, "ada@example.test", "owner");
    const removed = await scene.join(team, "removed@example.test", "admin");
    const demoted = await scene.join(team, "demoted@example.test", "admin");
    const made = await scene.applications.create(removed, ROBOT);
    const members = createMemberService({ database: scene.database });
    await members.remove(ada, removed.userId);
    await members.changeRole(ada, demoted.userId, "member");

    for (const [person, code] of [
      [removed, "token_invalid"],
      [demoted, "role_missing"],
    ] as const) {
      await assert.rejects(scene.applications.create(person, ROBOT), { code });
      await assert.rejects(scene.applications.rotate(person, made.clientId), { code });
    }
    assert.ok(await scene.exchange(made, { grant_type: "client_credentials" }));
  });

  describe("authenticate", () => {
    const ask = (authorization: string | null, form: Record<string, string> = {}, address = "192.0.2.2") =>
      scene.oauth.exchange({
        parameters: new Map(Object.entries({ grant_type: "client_credentials", ...form })),
        authorization,
        address,
        requestId: "request-1",
      });
    const basic = (id: string, secret: string) =>
      `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
    const post = () => ({ client_id: robot.clientId, client_secret: robot.clientSecret });

    it("by a header or in the form", async () => {
      assert.ok(await ask(basic(robot.clientId, robot.clientSecret)));
      assert.ok(await ask(null, post()));
      assert.ok(await ask(basic(robot.clientId, robot.clientSecret), { client_id: robot.clientId }));
      assert.ok(await ask(basic(robot.clientId, robot.clientSecret).replace("Basic", "basic")));
    });

    it("with form-encoded id and secret in the header (RFC 6749, 2.3.1)", async () => {
      const encode = (text: string) => text.replaceAll("_", "%5F").replaceAll("0", "%30");

      assert.ok(await ask(basic(encode(robot.clientId), encode(robot.clientSecret))));
    });

    it("by one method only, and as one application", async () => {
      const header = basic(robot.clientId, robot.clientSecret);
      const other = await scene.register();

      await assert.rejects(ask(header, post()), refusedAs("invalid_request"));
      await assert.rejects(ask(header, { client_id: other.clientId }), refusedAs("invalid_request"));
    });

    it("or are refused, always with the same message", async () => {
      const other = await scene.register();
      for (const [authorization, form] of [
        [null, {}],
        [null, { client_id: robot.clientId }],
        [null, { client_secret: robot.clientSecret }],
        [null, { client_id: robot.clientId, client_secret: "bhs_wrong" }],
        [null, { client_id: robot.clientId, client_secret: other.clientSecret }],
        [null, { client_id: "app_x", client_secret: robot.clientSecret }],
        [null, { client_id: "\0", client_secret: "\0" }],
        [basic(robot.clientId, "wrong"), {}],
        [basic("%", robot.clientSecret), {}],
        [basic(robot.clientId, ""), {}],
        ["Basic", {}],
        ["Basic !!!", {}],
        [`Basic ${Buffer.from("no colon").toString("base64")}`, {}],
        [`Bearer ${robot.clientSecret}`, {}],
        [`Bearer ${robot.clientSecret}`, post()],
      ] as const)
        await assert.rejects(ask(authorization, form), (error: unknown) => {
          refusedAs("invalid_client")(error);
          assert.ok(!String(error).includes(robot.clientSecret));
          return true;
        });
    });

    it("and a source that guesses secrets is rate limited, unless its secret is right", async () => {
      const guess = (address: string) =>
        ask(null, { client_id: robot.clientId, client_secret: "guess" }, address);
      const codes = new Set<string>();
      for (let count = 0; count < 100; count += 1)
        await guess("203.0.113.9").catch((error) => codes.add(error.code ?? error.error));

      assert.deepEqual([...codes], ["invalid_client", "rate_limited"]);
      assert.ok(await ask(null, post(), "203.0.113.9"), "locked out by the wrong ones of others");
      assert.ok(await ask(null, post(), "203.0.113.10"));
    });
  });

  it("answer or refuse any random request without an unexpected error", async () => {
    const monotonicMs = () => performance.now();
    const oauth = createOAuthService({
      database: scene.database,
      signer: scene.signer,
      findSession: createSessionLookup(scene.database),
      failures: { ...createFailureLimit({ monotonicMs }), attempt: (_address, look) => look() },
      limits: { count: () => scene.limit },
      publicUrl: () => "https://bellhop.example",
      recheck: () => {},
    });
    const web = await scene.register();
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        web.clientId,
        web.clientSecret,
        robot.clientId,
        robot.clientSecret,
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "code",
        "S256",
        "tasks:read",
        "https://reports.example/cb",
        "x".repeat(43),
      ),
    );
    const name = fc.oneof(
      fc.constantFrom(
        "client_id",
        "client_secret",
        "grant_type",
        "code",
        "redirect_uri",
        "code_verifier",
        "refresh_token",
        "scope",
        "token",
        "response_type",
        "state",
        "code_challenge",
        "code_challenge_method",
        "__proto__",
      ),
      fc.string(),
    );
    const known = (application: MintedApplication): [string, string][] => [
      ["client_id", application.clientId],
      ["client_secret", application.clientSecret],
    ];
    const pairs = fc.tuple(
      fc.constantFrom(known(web), known(robot), []),
      fc.array(fc.tuple(name, value), { maxLength: 8 }),
    );
    await fc.assert(
      fc.asyncProperty(pairs, async ([first, rest]) => {
        const received = readParameters([...first, ...rest]);
        const request = {
          parameters: received.parameters,
          authorization: null,
          address: "192.0.2.3",
          requestId: "request-1",
        };
        for (const call of [
          () => oauth.exchange(request),
          () => oauth.revoke(request),
          () => oauth.review(received),
        ])
          await call().catch((error: unknown) => assert.ok(error instanceof OAuthRefusal, String(error)));
      }),
      { numRuns: 300 },
    );
  });
});
