import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createLimitsOf } from "../../../src/domain/limits.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import { hashSecret, newSecret } from "../../../src/service/access/secret-hash.ts";
import { newUuid } from "../../../src/service/new-uuid.ts";
import { ensureOperator } from "../../../src/service/operator/operator.ts";
import { createSignInService } from "../../../src/service/people/sign-in-service.ts";
import { createTeam, createTeamService } from "../../../src/service/people/team-service.ts";
import { ensureMember } from "../../../src/store/identity/members.ts";
import { findTeam } from "../../../src/store/identity/teams.ts";
import { audit, openSignInScene, type SignInScene, tokenIn, VISITOR } from "./sign-in-scene.ts";

const INVALID = { code: "token_invalid", message: "Invalid or expired token", status: 401 };
const ADA = "ada@example.com";

describe("a sign-in link", () => {
  let scene: SignInScene;
  beforeEach(async () => {
    scene = await openSignInScene();
  });
  afterEach(() => scene.close());

  const ask = (email: string, address = VISITOR.address) =>
    scene.signIn.requestLink(email, { address, nextPath: null });
  const exchange = (token: string, address = VISITOR.address) =>
    scene.signIn.exchange(token, { ...VISITOR, address });

  it("is mailed, and signs its holder in", async () => {
    await ask(" Ada@Example.com ");
    const [mail] = scene.mails;
    const { session, user, team, nextPath } = await exchange(tokenIn(mail));

    assert.equal(mail?.to, ADA);
    assert.equal(mail.subject, "Sign in to Bellhop");
    assert.match(mail.text, /works once, within 15 minutes/);
    assert.match(mail.text, /not you who asked, leave this mail/);
    assert.ok(mail.html.includes(`href="https://bellhop.example/sign-in/link?token=${tokenIn(mail)}"`));
    assert.equal(user.email, ADA);
    assert.deepEqual([team.name, team.plan, nextPath], ["ada's team", "free", null]);
    const lastsMs = session.expiresAt.getTime() - Date.now();
    assert.ok(lastsMs > 23.99 * 3_600_000 && lastsMs <= 24 * 3_600_000, `${lastsMs} ms`);
    const principal = await scene.lookUp(session.token);
    assert.ok(principal);
    assert.deepEqual(
      { ...principal, teamId: 0, tokenHash: principal.tokenHash?.length },
      {
        teamId: 0,
        team: formatId("team", team.id),
        environment: "live",
        kind: "session",
        id: formatId("user", user.id),
        name: ADA,
        userId: user.id,
        role: "owner",
        scopes: null,
        plan: "free",
        requestsPerMinute: 60,
        limits: createLimitsOf()("free", null),
        tokenHash: 32,
      },
    );
  });

  it("is stored as a hash, and so is the session", async () => {
    const token = await scene.linkFor(ADA);
    const [stored] = await scene.database.rows<{ hash: Buffer }>("select hash from sign_in_links");
    assert.ok(stored?.hash.equals(hashSecret(token)));

    const { session } = await exchange(token);
    const secretId = (await scene.signer.verify(session.token))?.id ?? "";
    const [row] = await scene.database.rows<{ hash: Buffer }>("select hash from sessions");
    assert.ok(row?.hash.equals(hashSecret(secretId)));
  });

  it("keeps the path that the person wanted to open", async () => {
    const nextPath = "/v1/oauth/authorize?client_id=app_1&state=x";
    await scene.signIn.requestLink(ADA, { address: VISITOR.address, nextPath });
    assert.equal((await exchange(tokenIn(scene.mails[0]))).nextPath, nextPath);
  });

  it("works once, and is refused the second time", async () => {
    const token = await scene.linkFor(ADA);
    await exchange(token);
    await assert.rejects(exchange(token), INVALID);
  });

  it("works once when concurrent requests on several nodes use it", async () => {
    const token = await scene.linkFor(ADA);
    const nodes = [scene.signIn, scene.node(), scene.node()];
    const results = await Promise.allSettled(
      Array.from({ length: 9 }, (_, index) =>
        nodes[index % 3]?.exchange(token, { ...VISITOR, address: `192.0.2.${index}` }),
      ),
    );

    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
    const [{ sessions } = { sessions: 0 }] = await scene.database.rows<{ sessions: number }>(
      "select count(*)::integer as sessions from sessions",
    );
    assert.equal(sessions, 1);
  });

  it("works for 15 minutes, and is refused after that", async () => {
    const token = await scene.linkFor(ADA);
    const pass = (interval: string) =>
      scene.database.rows("update sign_in_links set expires_at = expires_at - $1::interval", [interval]);
    await pass("14 minutes 50 seconds");
    const other = await scene.linkFor("bob@example.com");
    await exchange(token);
    await pass("15 minutes");
    await assert.rejects(exchange(other), INVALID);
  });

  it("is invalid once a newer one was requested for its address", async () => {
    const older = await scene.linkFor(ADA);
    const newer = await scene.linkFor("ADA@example.com");
    await assert.rejects(exchange(older), INVALID);
    await exchange(newer);
  });

  it("that was never issued or is malformed is refused", async () => {
    await scene.linkFor(ADA);
    for (const token of [newSecret(), "", "x", "'; drop table users; --", "\u0000", "a".repeat(100_000)])
      await assert.rejects(exchange(token), INVALID);
  });

  it("is refused for an invalid address, and for one that injects a header", async () => {
    for (const email of [
      "",
      "ada",
      "ada@",
      "@example.com",
      "a b@example.com",
      "ada@example.com\r\nBcc: eve@example.com",
      "ada@example.com\nBcc: eve@example.com",
      "ada\u0000@example.com",
      "ada@example.com, eve@example.com",
      "ada@example.com;eve@example.com",
      "<ada@example.com>",
      '"ada"@example.com',
      `${"a".repeat(65)}@example.com`,
      `ada@${"e".repeat(250)}.com`,
    ])
      await assert.rejects(ask(email), {
        code: "invalid",
        message: "email must be a valid mail address",
        status: 400,
      });
    assert.equal(scene.mails.length, 0);
  });

  it("does not reveal whether an address is known: same answer and same statements", async () => {
    const statements: string[] = [];
    const spied = {
      ...scene.database,
      rows: ((query, values) => {
        statements.push(typeof query === "string" ? query : query.text);
        return scene.database.rows(query, values);
      }) satisfies typeof scene.database.rows,
    };
    await exchange(await scene.linkFor(ADA));
    scene.mails.length = 0;
    for (const signUp of ["open", "invited"] as const) {
      const service = createSignInService({
        database: spied,
        signer: scene.signer,
        sendMail: (mail) => scene.mails.push(mail),
        publicUrl: () => "https://bellhop.example",
        signUp,
        sendsLinks: true,
        now: () => new Date(),
      });
      const run = async (email: string) => {
        statements.length = 0;
        const answer = await service.requestLink(email, { address: "203.0.113.1", nextPath: null });
        return { answer, statements: [...statements] };
      };
      assert.deepEqual(await run(ADA), await run("stranger@example.com"));
    }
    // Open: both are mailed. Invited: only the member is.
    assert.deepEqual(
      scene.mails.map(({ to }) => to),
      [ADA, "stranger@example.com", ADA],
    );
  });

  it("is mailed to one address at most 5 times in 15 minutes, over all nodes", async () => {
    const nodes = [scene.signIn, scene.node()];
    const from = (index: number) => ({ address: `203.0.113.${index}`, nextPath: null });
    for (let index = 0; index < 5; index += 1) await nodes[index % 2]?.requestLink(ADA, from(index));
    for (const email of [ADA, "ADA@EXAMPLE.COM"])
      await assert.rejects(scene.node().requestLink(email, from(9)), (error: unknown) => {
        assert.ok(error instanceof Error && "retryAfterSeconds" in error && "code" in error);
        assert.equal(error.code, "rate_limited");
        assert.ok(Number(error.retryAfterSeconds) > 800 && Number(error.retryAfterSeconds) <= 900);
        return true;
      });

    assert.equal(scene.mails.length, 5);
    // The last mail's link still counts, and another address can be mailed.
    await exchange(tokenIn(scene.mails.at(-1)));
    await scene.signIn.requestLink("bob@example.com", from(10));
  });

  it("is mailed for one source (IPv6 /64) at most 20 times in 15 minutes", async () => {
    for (let index = 0; index < 20; index += 1)
      await ask(`user${index}@example.com`, `2001:db8:0:1::${index}`);
    await assert.rejects(ask("next@example.com", "2001:db8:0:1:ffff::1"), { code: "rate_limited" });
    await ask("next@example.com", "2001:db8:0:2::1");
    assert.equal(scene.mails.length, 21);
  });

  it("leaves no mail address in the table of rate limits", async () => {
    await ask(ADA);
    const rows = await scene.database.rows<{ source: string }>("select source from source_hits");
    assert.equal(rows.length, 2);
    assert.ok(!JSON.stringify(rows).includes("ada"));
  });

  it("can be tried at most 30 times a minute by one source", async () => {
    const token = await scene.linkFor(ADA);
    for (let index = 0; index < 30; index += 1) await assert.rejects(exchange(newSecret()), INVALID);
    await assert.rejects(exchange(token), { code: "rate_limited", status: 429 });
    await exchange(token, "192.0.2.8");
  });

  describe("of a new person", () => {
    it("creates a team of their own on the free plan, with the queue default", async () => {
      const { user, team } = await exchange(await scene.linkFor(ADA));
      const rows = await scene.database.rows(
        `select t.name, t.plan, m.role, q.name as queue from teams t
           join team_members m on m.team_id = t.id join queues q on q.team_id = t.id where t.public_id = $1`,
        [team.id],
      );
      assert.deepEqual(rows, [{ name: "ada's team", plan: "free", role: "owner", queue: "default" }]);

      const again = await exchange(await scene.linkFor(ADA));
      assert.deepEqual([again.user.id, again.team.id], [user.id, team.id]);
    });

    it("is recorded in the audit log of the team, with address and request id", async () => {
      const { user } = await exchange(await scene.linkFor(ADA));
      const events = await audit(scene.database);
      const id = formatId("user", user.id);
      assert.deepEqual(
        events.map(({ action, target }) => [action, target.replace(/^team_.*/, "team")]),
        [
          ["team.created", "team"],
          ["session.opened", id],
        ],
      );
      for (const event of events) {
        assert.deepEqual([event.actor_kind, event.actor_id, event.actor_name], ["session", id, ADA]);
        assert.deepEqual([event.address, event.request_id], [VISITOR.address, VISITOR.requestId]);
      }
    });

    it("is refused, without a new user or team, where sign-up is by invitation", async () => {
      const token = await scene.linkFor(ADA);
      await assert.rejects(scene.node("invited").exchange(token, VISITOR), INVALID);
      assert.deepEqual(await scene.database.rows("select 1 from users"), []);
      assert.deepEqual(await scene.database.rows("select 1 from teams"), []);
    });
  });

  it("of the configured owner opens the operator's team", async () => {
    const { teamId } = await ensureOperator(scene.database, null, ADA);
    const { session, team } = await exchange(await scene.linkFor(ADA));
    const principal = await scene.lookUp(session.token);

    await ensureOperator(scene.database, null, ADA);
    const added = (await audit(scene.database)).filter(({ actor_kind: kind }) => kind === "operator");
    assert.deepEqual(
      added.map((event) => [event.action, event.actor_name, event.detail]),
      [["member.added", "BELLHOP_OWNER_EMAIL", { email: ADA, role: "owner" }]],
    );
    assert.deepEqual([team.name, team.plan], ["Operator", "enterprise"]);
    assert.deepEqual(
      [principal?.teamId, principal?.role, principal?.requestsPerMinute],
      [teamId, "owner", null],
    );
  });

  it("opens the team that the person joined first", async () => {
    const first = await createTeam(scene.database, "First", "pro");
    const second = await createTeam(scene.database, "Second", "free");
    await ensureMember(scene.database, second, newUuid(), ADA, "owner");
    await ensureMember(scene.database, first, newUuid(), ADA, "viewer");
    await scene.database.rows(
      "update team_members set joined_at = now() - interval '1 day' where team_id = $1",
      [first],
    );
    const { team, session } = await exchange(await scene.linkFor(ADA));

    assert.equal(team.name, "First");
    assert.equal((await scene.lookUp(session.token))?.role, "viewer");
  });

  describe("of an invitation", () => {
    let teamId: number;
    beforeEach(async () => {
      teamId = await createTeam(scene.database, "Acme", "pro");
      await ensureMember(scene.database, teamId, newUuid(), "owner@example.com", "owner");
    });

    const invite = async (email: string, role: string, expires = "7 days") => {
      const secret = newSecret();
      await scene.database.rows(
        `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
         values ($1, $2, $3, $4, $5, 'x', now() + $6::interval)`,
        [newUuid(), teamId, email, role, hashSecret(secret), expires],
      );
      return secret;
    };

    it("creates a member with its role, and opens a session in that team", async () => {
      const { user, team, session, nextPath } = await exchange(await invite(ADA, "member"));
      const principal = await scene.lookUp(session.token);

      assert.deepEqual([team.name, nextPath], ["Acme", null]);
      assert.deepEqual(
        [principal?.teamId, principal?.role, principal?.requestsPerMinute],
        [teamId, "member", 600],
      );
      // No team of their own is made beside it.
      assert.equal((await scene.database.rows("select 1 from teams")).length, 1);
      const events = await audit(scene.database);
      assert.deepEqual(
        events.map(({ action, team_id, target, detail }) => [action, team_id, target, detail?.role]),
        [
          ["member.joined", teamId, formatId("user", user.id), "member"],
          ["session.opened", teamId, formatId("user", user.id), undefined],
        ],
      );
    });

    it("works where sign-up is by invitation", async () => {
      const { team } = await scene.node("invited").exchange(await invite(ADA, "viewer"), VISITOR);
      assert.equal(team.name, "Acme");
      const again = await scene.node("invited").exchange(await scene.linkFor(ADA), VISITOR);
      assert.equal(again.team.name, "Acme");
    });

    it("opens its team even if the person has older teams", async () => {
      await exchange(await scene.linkFor(ADA));
      assert.equal((await exchange(await invite(ADA, "member"))).team.name, "Acme");
      assert.equal((await exchange(await scene.linkFor(ADA))).team.name, "ada's team");
    });

    it("opens a session that cannot switch to another team", async () => {
      const own = await exchange(await scene.linkFor(ADA));
      const goHome = async (token: string) => {
        const principal = await scene.lookUp(token);
        assert.ok(principal, "the session does not count");
        const requester = { ...principal, ...VISITOR };
        return scene.sessions.switchTeam(requester, token, formatId("team", own.team.id));
      };

      const invited = await exchange(await invite(ADA, "member"));

      await assert.rejects(goHome(invited.session.token), { code: "session_bound", status: 403 });
      assert.equal((await scene.lookUp(invited.session.token))?.teamId, teamId);
      // A person who reads the mail now may go wherever they belong.
      const home = await goHome((await exchange(await scene.linkFor(ADA))).session.token);
      assert.equal(home.team.name, "ada's team");
    });

    it("opens a session that can neither list nor create other teams", async () => {
      const teams = createTeamService({ database: scene.database });
      await exchange(await scene.linkFor(ADA));
      for (const email of [ADA, "bob@example.com"]) {
        const { session } = await exchange(await invite(email, "member"));
        const other = await createTeam(scene.database, "Another", "free");
        await ensureMember(scene.database, other, newUuid(), email, "member");
        const principal = await scene.lookUp(session.token);
        assert.ok(principal);
        const requester = { ...principal, ...VISITOR };

        assert.deepEqual(
          (await teams.list(principal)).items.map(({ team }) => team.name),
          ["Acme"],
        );
        await assert.rejects(teams.create(requester, "New"), { code: "session_bound", status: 403 });
        const found = await findTeam(scene.database, other);
        await assert.rejects(
          scene.sessions.switchTeam(requester, session.token, formatId("team", found?.id ?? "")),
          { code: "session_bound" },
        );
      }
    });

    it("can raise a member's role, and never lowers it", async () => {
      for (const [held, offered, expected] of [
        ["admin", "viewer", "admin"],
        ["viewer", "admin", "admin"],
        ["member", "member", "member"],
      ] as const) {
        const email = `${held}-${offered}@example.com`;
        await ensureMember(scene.database, teamId, newUuid(), email, held);
        const { session } = await exchange(await invite(email, offered));
        assert.equal((await scene.lookUp(session.token))?.role, expected);
      }
    });

    it("works once, until it expires", async () => {
      const token = await invite(ADA, "member");
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => exchange(token)));
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
      await assert.rejects(exchange(await invite("late@example.com", "member", "-1 second")), INVALID);
    });
  });

  it("and an invitation used at the same moment create one user", async () => {
    const teamId = await createTeam(scene.database, "Acme", "free");
    const secret = newSecret();
    await scene.database.rows(
      `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
       values ($1, $2, $3, 'member', $4, 'x', now() + interval '1 day')`,
      [newUuid(), teamId, ADA, hashSecret(secret)],
    );
    const link = await scene.linkFor(ADA);
    const [a, b] = await Promise.all([exchange(secret), scene.node().exchange(link, VISITOR)]);

    assert.equal(a.user.id, b.user.id);
    assert.equal((await scene.database.rows("select 1 from users")).length, 1);
  });
});
