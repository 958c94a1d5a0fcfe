import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Problem } from "../../../src/domain/problem.ts";
import { formatId } from "../../../src/domain/public-id.ts";
import { createKeyLookup } from "../../../src/service/access/principals.ts";
import { createStoredKeys } from "../../../src/service/access/session-keys.ts";
import { ensureOperator, mintFirstKey } from "../../../src/service/operator/operator.ts";
import {
  createOperatorsKey,
  createOperatorsSignInLink,
  listOperatorsKeys,
  revokeOperatorsKey,
  rotateOperatorsSessionKey,
} from "../../../src/service/operator/operator-keys.ts";
import { addMember, removeMember } from "../../../src/service/operator/operator-members.ts";
import {
  changePlan,
  createOperatorsTeam,
  listTeams,
  type NewTeam,
  showTeam,
} from "../../../src/service/operator/operator-teams.ts";
import { admitByToken } from "../../../src/service/people/admission.ts";
import { createTestDatabase, type TestDatabase } from "../../test-database.ts";

const ME = "grace";

describe("the operator", () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
    await ensureOperator(test.database, null);
    await mintFirstKey(test.database);
  });
  after(() => test.drop());

  const makeTeam = (name: string, own: Partial<NewTeam> = {}) =>
    createOperatorsTeam(test.database, ME, { name, plan: "free", perMinute: null, owner: null, ...own });
  const refuses = (work: Promise<unknown>, reason: RegExp | string) =>
    assert.rejects(work, (error) => {
      assert.ok(error instanceof Problem, String(error));
      if (typeof reason === "string") assert.equal(error.message, reason);
      else assert.match(error.message, reason);
      return true;
    });
  const auditOf = (team: string) =>
    test.database.rows<Record<string, unknown>>(
      `select actor_kind, actor_id, address, action, target, detail
         from audit_events e join teams t on t.id = e.team_id where t.name = $1 order by e.id`,
      [team],
    );

  it("makes the configured address an owner at every start, whatever its role was", async () => {
    await ensureOperator(test.database, null, "first@example.com");
    await addMember(test.database, ME, "Operator", { email: "first@example.com", role: "viewer" });

    await ensureOperator(test.database, null, "first@example.com");

    const { members } = await showTeam(test.database, "Operator");
    assert.deepEqual(
      members.map(({ email, role }) => [email, role]),
      [["first@example.com", "owner"]],
    );
    const { hasOwner } = await addMember(test.database, ME, "Operator", {
      email: "first@example.com",
      role: "viewer",
    });
    assert.equal(hasOwner, false);
    await removeMember(test.database, ME, "Operator", "first@example.com");
  });

  it("sees its own team first, then the others in order of creation", async () => {
    const acme = await makeTeam("List A");
    const [own, ...others] = await listTeams(test.database);

    assert.equal(own?.name, "Operator");
    assert.equal(own?.plan, "enterprise");
    assert.equal(own?.requestsPerMinute, null);
    assert.equal(own?.activeKeys, 1);
    assert.deepEqual(others.at(-1), acme);
    assert.match(acme.id, /^team_/);
  });

  it("creates a team with the queue default and an owner", async () => {
    const team = await makeTeam("Made", { plan: "enterprise", perMinute: 5000, owner: " Ada@Example.com " });
    const { members, apiKeys } = await showTeam(test.database, team.id);

    assert.equal(team.requestsPerMinute, 5000);
    assert.equal(team.members, 1);
    assert.deepEqual(
      members.map(({ email, role }) => ({ email, role })),
      [{ email: "ada@example.com", role: "owner" }],
    );
    assert.deepEqual(apiKeys, []);
    const queues = await test.database.rows(
      "select 1 from queues q join teams t on t.id = q.team_id where t.name = 'Made' and q.name = 'default'",
    );
    assert.equal(queues.length, 1);
  });

  it("is recorded in the audit log as the system user, without an address", async () => {
    const team = await makeTeam("Recorded", { owner: "ada@example.com" });
    const { apiKey } = await createOperatorsKey(test.database, ME, team.id, {
      name: "CI",
      environment: "live",
    });
    await changePlan(test.database, ME, team.id, { plan: "pro", perMinute: null });
    await revokeOperatorsKey(test.database, ME, apiKey.id);

    const events = await auditOf("Recorded");
    assert.deepEqual(
      events.map(({ action }) => action),
      ["team.created", "member.added", "api_key.created", "team.plan_changed", "api_key.revoked"],
    );
    for (const event of events) {
      assert.equal(event.actor_kind, "operator");
      assert.equal(event.actor_id, ME);
      assert.equal(event.address, null);
    }
    assert.deepEqual(events[3]?.detail, {
      from: { plan: "free", requestsPerMinute: 60 },
      to: { plan: "pro", requestsPerMinute: 600 },
    });
    assert.ok(!JSON.stringify(events).includes(apiKey.key), "the key is in nobody's log");
  });

  it("cannot create a team before the operator's team exists", async () => {
    const empty = await createTestDatabase();
    const made = createOperatorsTeam(empty.database, ME, {
      name: "First",
      plan: "free",
      perMinute: null,
      owner: null,
    });
    await refuses(made, /^Start Bellhop on this database first/);
    assert.deepEqual(await listTeams(empty.database), []);
    await empty.drop();
  });

  it("is refused invalid names, limits and addresses", async () => {
    await refuses(makeTeam("  "), "The name of a team must have 1 to 100 characters");
    await refuses(makeTeam("x".repeat(101)), "The name of a team must have 1 to 100 characters");
    await refuses(makeTeam("a\u001b[2Jb"), "The name of a team must be text without control characters");
    await refuses(makeTeam("A", { plan: "pro", perMinute: 5 }), /only enterprise takes another/);
    await refuses(makeTeam("A", { plan: "enterprise", perMinute: 0 }), /between 1 and 10000000/);
    await refuses(makeTeam("A", { plan: "enterprise", perMinute: 10_000_001 }), /between 1 and 10000000/);
    await refuses(makeTeam("A", { owner: "nobody" }), '"nobody" is no mail address');
  });

  describe("names a team", () => {
    it("by its id or by its exact name", async () => {
      const { id } = await makeTeam("Named Only Once");
      assert.equal((await showTeam(test.database, "Named Only Once")).team.id, id);
      assert.equal((await showTeam(test.database, id)).team.id, id);
    });

    it("and is shown the ids when several have that name", async () => {
      const first = await makeTeam("Twins");
      const second = await makeTeam("Twins");
      await refuses(
        showTeam(test.database, "Twins"),
        `Several teams are called "Twins", use the id: ${first.id}, ${second.id}`,
      );
    });

    it("and gets a suggestion for a misspelled name", async () => {
      await makeTeam("Globex");
      await refuses(showTeam(test.database, "Globx"), 'There is no team "Globx"; did you mean "Globex"?');
      await refuses(showTeam(test.database, "Zzzzzzzzz"), 'There is no team "Zzzzzzzzz"');
      const id = formatId("team", "01890000-0000-7000-8000-000000000000");
      await refuses(showTeam(test.database, id), `There is no team with the id ${id}`);
    });
  });

  describe("changes a plan", () => {
    it("which applies from the next lookup of a key of the team", async () => {
      await makeTeam("Planned");
      const { apiKey } = await createOperatorsKey(test.database, ME, "Planned", {
        name: "k",
        environment: "live",
      });
      const lookUp = createKeyLookup(test.database);
      const limit = async () => (await lookUp(apiKey.key))?.requestsPerMinute;
      assert.equal(await limit(), 60);

      const { before, after } = await changePlan(test.database, ME, "Planned", {
        plan: "enterprise",
        perMinute: 1234,
      });

      assert.deepEqual([before.plan, before.requestsPerMinute], ["free", 60]);
      assert.deepEqual([after.plan, after.requestsPerMinute], ["enterprise", 1234]);
      assert.equal(await limit(), 1234);
      await changePlan(test.database, ME, "Planned", { plan: "pro", perMinute: null });
      assert.equal(await limit(), 600);
      await changePlan(test.database, ME, "Planned", { plan: "enterprise", perMinute: null });
      assert.equal(await limit(), null, "a figure of its own does not come back by itself");
    });

    it("which is recorded only if it changes something", async () => {
      await makeTeam("Same");
      await changePlan(test.database, ME, "Same", { plan: "free", perMinute: null });
      assert.deepEqual(
        (await auditOf("Same")).map(({ action }) => action),
        ["team.created"],
      );
    });
  });

  describe("adds a person", () => {
    it("as a member by default, and changes the role of a member", async () => {
      await makeTeam("Joined");
      const add = (role: "admin" | null) =>
        addMember(test.database, ME, "Joined", { email: "Bob@example.com", role });

      assert.deepEqual(await add(null), {
        team: "Joined",
        email: "bob@example.com",
        role: "member",
        before: null,
        hasOwner: false,
      });
      assert.equal((await add("admin")).before, "member");
      assert.equal((await add(null)).role, "admin", "who is a member keeps the role");
      const actions = (await auditOf("Joined")).map(({ action }) => action);
      assert.deepEqual(actions, ["team.created", "member.added", "member.role_changed"]);
    });

    it("and removes a person together with their open invitation", async () => {
      const { id } = await makeTeam("Left", { owner: "ada@example.com" });
      await addMember(test.database, ME, id, { email: "bob@example.com", role: null });
      await test.database.rows(
        `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
         select gen_random_uuid(), id, 'bob@example.com', 'admin', '\\x01', 'x', now() + interval '1 day'
           from teams where name = 'Left'`,
      );

      const removed = await removeMember(test.database, ME, id, "bob@example.com");

      assert.deepEqual(removed, { team: "Left", email: "bob@example.com", hasOwner: true });
      assert.deepEqual(
        (await showTeam(test.database, id)).members.map(({ email }) => email),
        ["ada@example.com"],
      );
      const left = await test.database.rows(
        "select 1 from invitations i join teams t on t.id = i.team_id where t.name = 'Left'",
      );
      assert.equal(left.length, 0);
      await refuses(
        removeMember(test.database, ME, id, "bob@example.com"),
        'bob@example.com is no member of "Left"',
      );
      assert.equal((await removeMember(test.database, ME, id, "ada@example.com")).hasOwner, false);
    });
  });

  it("rotates the session key, and keeps the older one for verification", async () => {
    const keys = createStoredKeys({ database: test.database, monotonicMs: () => 0 });
    const older = await keys.signing();

    const id = await rotateOperatorsSessionKey(test.database, ME);

    const fresh = createStoredKeys({ database: test.database, monotonicMs: () => 0 });
    assert.equal((await fresh.signing()).id, id);
    assert.equal((await fresh.find(older.id))?.id, older.id);
    const [event] = (await auditOf("Operator")).slice(-1);
    assert.deepEqual([event?.action, event?.target], ["session_key.rotated", id]);
  });

  it("creates a sign-in link that works once, and none for an address that may not sign in", async () => {
    await makeTeam("Linked");
    await addMember(test.database, ME, "Linked", { email: "linked@example.com", role: "owner" });
    const invited = { signUp: "invited", publicUrl: "https://bellhop.example" } as const;

    const link = await createOperatorsSignInLink(test.database, ME, " Linked@example.com", invited);

    const [, token = ""] =
      /^https:\/\/bellhop\.example\/sign-in\/link\?token=([0-9a-f]{64})$/.exec(link) ?? [];
    const [event] = (await auditOf("Operator")).slice(-1);
    assert.deepEqual([event?.action, event?.target], ["sign_in_link.created", "linked@example.com"]);
    assert.ok(!JSON.stringify(event).includes(token));
    const origin = { address: "203.0.113.7", requestId: "r" };
    const enter = () =>
      test.database.transaction((sql) =>
        admitByToken(sql, { ...invited, now: () => new Date() }, token, origin),
      );
    assert.equal((await enter()).team.name, "Linked");
    await assert.rejects(enter(), { code: "token_invalid" });

    const make = (email: string, signUp: "open" | "invited") =>
      createOperatorsSignInLink(test.database, ME, email, { ...invited, signUp });
    await refuses(
      make("new@example.com", "invited"),
      "new@example.com is a member of no team: add it to one with bellhop team add",
    );
    await refuses(make("new", "open"), "new is not a mail address");
    assert.match(await make("new@example.com", "open"), /token=/);
  });

  describe("creates an API key", () => {
    it("that is valid for its team until it is revoked", async () => {
      await makeTeam("Keyed");
      const made = await createOperatorsKey(test.database, ME, "Keyed", { name: "CI", environment: "test" });
      assert.match(made.apiKey.key, /^bh_test_[0-9a-f]{64}$/);
      const lookUp = createKeyLookup(test.database);
      assert.equal((await lookUp(made.apiKey.key))?.environment, "test");
      const [listed] = await listOperatorsKeys(test.database, "Keyed");
      assert.equal(listed?.id, made.apiKey.id);
      assert.ok(!JSON.stringify(listed).includes(made.apiKey.key));

      const revoked = await revokeOperatorsKey(test.database, ME, made.apiKey.id);

      assert.equal(revoked.team, "Keyed");
      assert.equal(revoked.apiKey.name, "CI");
      assert.equal(await lookUp(made.apiKey.key), null);
      assert.deepEqual(await listOperatorsKeys(test.database, "Keyed"), []);
    });

    it("and cannot revoke an unknown or revoked one", async () => {
      await makeTeam("Revoked");
      const { apiKey } = await createOperatorsKey(test.database, ME, "Revoked", {
        name: "once",
        environment: "live",
      });
      await revokeOperatorsKey(test.database, ME, apiKey.id);
      for (const id of [
        apiKey.id,
        "key_nonsense",
        "bh_live_x",
        formatId("key", "01890000-0000-7000-8000-000000000000"),
      ])
        await refuses(revokeOperatorsKey(test.database, ME, id), "API key not found or already revoked");
    });
  });
});
