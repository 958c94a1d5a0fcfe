import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { MOST_ANSWER_BYTES } from "../../src/domain/answer-room.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

interface List {
  readonly path: string;
  readonly member: string;
  /** Names an entry. */
  readonly key: string;
  /** Stores the rows of team $1, each as large as the limits allow. */
  readonly fill: string;
  readonly rows: number;
  /** Asked by a person of a team of their own, which is $1 then. */
  readonly as?: "person";
}

const ids = (rows: number) => `(select gen_random_uuid() as id, n from generate_series(1, ${rows}) n) r`;
const PERSON = "(select id from users where email = 'lists@team-' || $1::integer || '.example')";
const LONG_URL = "'https://a.example/' || repeat('u', 8000)";

const LISTS: readonly List[] = [
  {
    path: "/v1/tokens",
    member: "tokens",
    key: "id",
    fill: `insert into vault_tokens (team_id, id, name, allowed_hosts, key_id, sealed)
      select $1, id, 'name', array_fill(repeat('h', 250), array[50]), 'k', '' from ${ids(100)}`,
    rows: 100,
  },
  {
    path: "/v1/oauth/applications",
    member: "applications",
    key: "clientId",
    fill: `insert into oauth_applications (team_id, id, name, secret_hash, redirect_uris, scopes, grant_types)
      select $1, id, 'name', id::text::bytea, array_fill('https://a.example/' || repeat('u', 1980), array[20]), '{tasks:read}', '{client_credentials}'
        from ${ids(40)}`,
    rows: 40,
  },
  {
    path: "/v1/schedules",
    member: "schedules",
    key: "id",
    fill: `insert into schedules (team_id, id, sandbox, name, cron, timezone, overlap, catch_up, task, request, last_error, last_error_at)
      select $1, id, false, 'n' || n, '0 3 * * *', 'UTC', 'skip', 'one', '{}', '{}', repeat('e', 8000), now() from ${ids(150)}`,
    rows: 150,
  },
  {
    path: "/v1/webhooks",
    member: "webhooks",
    key: "id",
    fill: `insert into webhooks (team_id, id, url, events, enabled)
      select $1, id, 'https://a.example/' || repeat('語', 8170), '{task.created}', false from ${ids(50)}`,
    rows: 50,
  },
  {
    path: "/v1/alerts",
    member: "alerts",
    key: "id",
    fill: `with a as (
        insert into alerts (team_id, id, name, kind, threshold, for_seconds, enabled)
        select $1, id, 'name', 'oldest_pending', 1, 0, false from ${ids(20)} returning id)
      insert into alert_channels (team_id, id, alert_id, position, kind, target)
      select $1, gen_random_uuid(), a.id, p, 'url', ${LONG_URL} from a, generate_series(1, 10) p`,
    rows: 20,
  },
  {
    path: "/v1/audit?limit=100",
    member: "events",
    key: "id",
    fill: `insert into audit_events (team_id, id, actor_kind, actor_id, actor_name, action, target, detail)
      select $1, id, 'api_key', 'a', 'b', 'vault_token.created', 'c', jsonb_build_object('allowedHosts', array_fill(repeat('h', 260), array[50]))
        from ${ids(90)}`,
    rows: 90,
  },
  {
    path: "/v1/url-groups",
    member: "url_groups",
    key: "name",
    fill: `insert into url_groups (team_id, name, endpoints)
      select $1, 'g' || n, (select jsonb_agg(jsonb_build_object('name', 'e' || e, 'url', ${LONG_URL})) from generate_series(1, 100) e)
        from generate_series(1, 4) n`,
    rows: 4,
  },
  {
    path: "/v1/team/members",
    member: "members",
    key: "id",
    fill: `with u as (
        insert into users (id, email) select id, lpad(id::text, 250, 'm') from ${ids(3_000)} returning id)
      insert into team_members (team_id, user_id, role) select $1, id, 'viewer' from u`,
    rows: 3_000,
  },
  {
    path: "/v1/team/invitations",
    member: "invitations",
    key: "id",
    fill: `insert into invitations (id, team_id, email, role, hash, invited_by, expires_at)
      select id, $1, lpad(id::text, 250, 'i'), 'viewer', id::text::bytea, repeat('b', 250), now() + interval '1 day' from ${ids(2_500)}`,
    rows: 2_500,
  },
  {
    path: "/v1/teams",
    member: "teams",
    key: "id",
    fill: `with made as (
        insert into teams (name, plan) select repeat('語', 100), 'free' from ${ids(2_500)} returning id)
      insert into team_members (team_id, user_id, role) select id, ${PERSON}, 'viewer' from made`,
    rows: 2_501,
    as: "person",
  },
  {
    path: "/v1/sessions",
    member: "sessions",
    key: "id",
    fill: `insert into sessions (hash, user_id, team_id, expires_at)
      select sha256(id::text::bytea), ${PERSON}, $1, now() + interval '1 day' from ${ids(2_500)}`,
    rows: 2_501,
    as: "person",
  },
];

describe("the size of lists with the largest rows", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  for (const { path, member, key, fill, rows, as } of LISTS)
    it(`${path}: has pages of at most 1 MiB, and every entry once`, async () => {
      const team = as === undefined ? api.team : await api.openTeam();
      const { headers } = as === undefined ? team : await team.signIn("lists", "owner");
      await api.server.database.rows(fill, [team.id]);
      const seen = new Set<string>();
      const glue = path.includes("?") ? "&" : "?";
      let pages = 0;
      for (let next = path; ; ) {
        const { status, text, body } = await api.call("GET", next, undefined, headers);
        assert.equal(status, 200, text.slice(0, 300));
        assert.ok(text.length <= MOST_ANSWER_BYTES, `${text.length} characters`);
        assert.ok(Buffer.byteLength(text) <= MOST_ANSWER_BYTES);
        pages += 1;
        for (const entry of body[member]) {
          assert.ok(!seen.has(entry[key]), `${entry[key]} twice`);
          seen.add(entry[key]);
        }
        if (body.pagination?.hasMore !== true) break;
        next = `${path}${glue}cursor=${encodeURIComponent(body.pagination.nextCursor)}`;
      }
      assert.equal(seen.size, rows);
      assert.ok(pages > 1, "rows that fit on a page show nothing");
    });

  it("/v2/topics: refuses a list of more than 1 MiB, and names the one with pages", async () => {
    const { status, body } = await api.call("GET", "/v2/topics");
    assert.deepEqual([status, body.code], [413, "list_too_large"]);
    assert.match(body.error, /by pages from \/v1\/url-groups$/);
    const remove = (name: string) => api.call("DELETE", `/v2/topics/${name}`);
    await Promise.all(["g2", "g3", "g4"].map(remove));
    assert.deepEqual(
      (await api.call("GET", "/v2/topics")).body.map(({ name }: { name: string }) => name),
      ["g1"],
    );
  });

  for (const [path, other, fill] of [
    [
      "/v2/queues",
      "/v1/queues",
      `insert into queues (team_id, name, concurrency, max_retries, backoff, retry_delay_seconds, timeout_seconds)
       select $1, 'q' || n, 1, 0, 'fixed', 0, 1 from generate_series(1, 1000) n`,
    ],
    [
      "/v2/flowControl",
      "/v1/flows",
      `insert into flows (team_id, sandbox, key, is_stored, concurrency)
       select $1, false, 'f' || n, true, 1 from generate_series(1, 1001) n`,
    ],
  ] as const)
    it(`${path}: refuses a list of more than 1,000 entries, and names the one with pages`, async () => {
      const { id, headers } = await api.openTeam();
      assert.equal((await api.call("GET", path, undefined, headers)).status, 200);
      await api.server.database.rows(fill, [id]);
      const { status, body } = await api.call("GET", path, undefined, headers);
      assert.deepEqual([status, body.code], [413, "list_too_large"]);
      assert.ok(body.error.endsWith(`by pages from ${other}`), body.error);
    });

  it("/v1/url-groups: lists many small groups, and each of them once", async () => {
    const { database } = api.server;
    await database.rows(
      `insert into url_groups (team_id, name, endpoints) select $1, 's' || n, '[{"url": "https://a.example/"}]' from generate_series(1, 30) n`,
      [api.team.id],
    );
    const { body } = await api.call("GET", "/v1/url-groups?limit=20");
    assert.equal(body.url_groups.length, 20);
    const rest = await api.call("GET", `/v1/url-groups?cursor=${body.pagination.nextCursor}`);
    assert.equal(rest.body.url_groups.length, 11);
    assert.equal(rest.body.pagination.hasMore, false);
  });

  it("/v2/schedules: refuses a list of more than 1 MiB, and reads no further", async () => {
    const names = ["a", "b", "c", "d"].map((each) => `large-${each}`);
    for (const name of names) {
      const headers = { "upstash-cron": "0 3 * * *", "upstash-schedule-id": name };
      const made = await api.call("POST", "/v2/schedules/https://a.example/", "small", headers);
      assert.equal(made.status, 200, made.text);
    }
    const list = () => api.call("GET", "/v2/schedules");
    assert.deepEqual(
      (await list()).body.map(({ scheduleId }: { scheduleId: string }) => scheduleId),
      names,
    );
    await api.server.database.rows(
      `update schedules set request = jsonb_set(request::jsonb, '{call,body}', to_jsonb(repeat('b', 600000)))::text
        where team_id = $1 and name like 'large-%'`,
      [api.team.id],
    );
    const { status, body } = await list();
    assert.deepEqual([status, body.code], [413, "list_too_large"]);
    assert.match(body.error, /by pages from \/v1\/schedules$/);
    assert.equal((await api.call("GET", "/v2/schedules/large-a")).body.body.length, 600_000);
  });
});
