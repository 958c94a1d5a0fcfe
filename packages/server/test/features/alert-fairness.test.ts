import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import type { Alert, NewChannel } from "../../src/features/alerts/domain.ts";
import { readDepth, readOldestDue } from "../../src/features/alerts/store-figures.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { ensureMember, insertMember } from "../../src/store/identity/members.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import { explain } from "../test-store.ts";

describe("alerts of several teams", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({}, { deliverMail: async () => null });
  });
  after(() => server.close());
  beforeEach(() =>
    server.database.rows("delete from alerts; delete from alert_channels; delete from alert_messages"),
  );

  const features = () => server.services.features.alerts;

  function create(team: Requester, notify: readonly NewChannel[]): Promise<Alert> {
    const when = { kind: "depth", queue: QUEUE, threshold: 2, within: null, for: 0 } as const;
    return features().service.create(team, { name: "Backlog", when, notify, enabled: true });
  }

  describe("whose receivers hang", () => {
    /** A test message for each of so many channels. */
    async function test(team: Requester, channels: number): Promise<void> {
      const url = (index: number) => ({ kind: "url", target: `${server.target.url}/${index}` }) as const;
      const alert = await create(
        team,
        Array.from({ length: channels }, (_, index) => url(index)),
      );
      await features().service.test(team, alert.id);
    }

    async function claimed({ teamId }: Requester): Promise<number> {
      const rows = await server.database.rows(
        "select 1 from alert_messages where team_id = $1 and attempts > 0",
        [teamId],
      );
      return rows.length;
    }

    afterEach(async () => {
      await server.database.rows("delete from alert_messages");
      server.target.answer = (_, response) => response.end();
      server.target.release();
      await features().courier.finished();
    });

    /** Five teams fill the courier as far as it lets them. */
    async function hang(): Promise<Requester[]> {
      server.target.hold();
      const teams: Requester[] = [];
      for (let index = 0; index < 5; index += 1) teams.push(await server.openTeam());
      return teams;
    }

    async function fill(teams: readonly Requester[]): Promise<void> {
      for (const team of teams) {
        await test(team, 10);
        await test(team, 10);
      }
      while ((await features().courier.workOnce()) === 0);
    }

    it("leave a place for another team", async () => {
      const teams = await hang();
      await fill(teams);
      const guest = await server.openTeam();
      await test(guest, 1);

      await features().courier.workOnce();

      assert.equal(await claimed(guest), 1);
    });

    it("have as many places together as one if they are the free teams of one person", async () => {
      const teams = await hang();
      const [first] = teams;
      assert.ok(first);
      const userId = await ensureMember(
        server.database,
        first.teamId,
        newUuid(),
        "mallory@example.com",
        "owner",
      );
      for (const { teamId } of teams.slice(1)) await insertMember(server.database, teamId, userId, "owner");

      await fill(teams);

      const counts = await Promise.all(teams.map(claimed));
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        10,
      );
    });
  });

  it("measure the tasks of a team's flows, however many wait in those of another", async () => {
    const flow = { key: "customer", concurrency: 1, rate: null, period: null, ordered: null };
    const guest = await server.openTeam();
    const [own] = await server.database.rows<{ id: string }>("select id from queues where team_id = $1", [
      server.principal.teamId,
    ]);
    await server.database.rows(
      `insert into tasks (team_id, id, queue_id, shape, sandbox, method, url, max_retries, backoff, retry_delay_seconds,
                          timeout_seconds, created_at, status, priority, run_at, flow, flow_due_at, list_key)
       select $1, gen_random_uuid(), $2, 'queue', false, 'POST', 'http://localhost/', 3, 'fixed', 1, 30, now(), 'pending', 5,
              t.at, 'crowd', t.at, 'pending'
         from generate_series(1, 10001), (select now() - interval '1 hour' as at) t`,
      [server.principal.teamId, own?.id],
    );
    await server.queues.setPaused(guest, QUEUE, true);
    await server.submit({ flow }, guest);
    await server.submit({ flow: { ...flow, key: "later" }, priority: 9 }, guest);
    await server.submit({ flow, priority: 2, delaySeconds: 7200 }, guest);
    await server.advance(90);

    const oldest = await readOldestDue(server.database, guest.teamId, QUEUE);
    assert.ok(oldest >= 90 && oldest < 120, String(oldest));
    assert.equal(await readDepth(server.database, guest.teamId, null, 1), 2);
    for (const mode of ["custom", "generic"] as const)
      for (const { teamId } of [guest, server.principal]) {
        const plan = await explain(server.database, mode, (sql) => readOldestDue(sql, teamId, QUEUE));
        assert.ok(plan.blocks < 300, `${mode}: ${plan.blocks} blocks by ${plan.indexes.join()}`);
      }
  });

  it("send a member at most five test mails in ten minutes", async () => {
    const team = await server.openTeam();
    const email = `ada@team-${team.teamId}.example`;
    await ensureMember(server.database, team.teamId, newUuid(), email, "viewer");
    const bob = `bob@team-${team.teamId}.example`;
    await ensureMember(server.database, team.teamId, newUuid(), bob, "viewer");
    const alerts: Alert[] = [];
    for (let index = 0; index < 6; index += 1)
      alerts.push(
        await create(team, [
          { kind: "email", target: bob },
          { kind: "email", target: email },
        ]),
      );
    const other = await create(team, [{ kind: "email", target: bob }]);
    const [last, ...first] = alerts;
    assert.ok(last);
    for (const { id } of first) await features().service.test(team, id);

    for (const { id } of [last, other])
      await assert.rejects(features().service.test(team, id), (problem) => {
        assert.ok(problem instanceof Problem);
        assert.equal(problem.message, "A member receives at most 5 test mails of alerts in 10 minutes");
        return problem.status === 429 && problem.retryAfterSeconds !== null && problem.retryAfterSeconds > 0;
      });

    const mails = await server.database.rows("select 1 from alert_messages where team_id = $1", [
      team.teamId,
    ]);
    assert.equal(mails.length, 10);
  });
});
