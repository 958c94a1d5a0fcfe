import assert from "node:assert/strict";
import { pino } from "pino";
import { parseId } from "../../src/domain/public-id.ts";
import { composeApi } from "../../src/server/compose-api.ts";
import { type Statement, statement } from "../../src/store/sql.ts";
import { openTestServer, refusePrivate, type TestNode, type TestServer } from "../test-server.ts";
import type { TextSql } from "../test-sql.ts";
import { type Answer, openWorld, type World } from "./access-world.ts";

/*
 * Two teams with two environments each. Whatever the first team has, the second has too, under the same names and, where the
 * table allows it, under the same ids. Each place has words of its own in what it stores.
 */

export type Environment = "live" | "sandbox";

/** What every text of our team says, and never one of the other team. */
export const OURS = "rose";
export const THEIRS = "alien";

/** In payloads, metadata and names of a place. What both environments of a team share says `rose-team`. */
export function wordOf(environment: Environment): string {
  return `${OURS}-${environment}`;
}

/** The hash of all rows of one table and place, by both. */
export type Snapshot = ReadonlyMap<string, string>;

export interface Places {
  readonly server: TestServer;
  readonly world: World;
  readonly sql: TextSql;
  readonly ourTeam: number;
  readonly theirTeam: number;
  call(
    environment: Environment,
    method: string,
    path: string,
    body?: unknown,
    headers?: object,
  ): Promise<Answer>;
  /** Gives the other team whatever ours has and it lacks. */
  mirror(): Promise<void>;
  snapshot(): Promise<Snapshot>;
  /** Removes what the two teams have, but for their people and credentials. */
  clear(): Promise<void>;
  /** A node that makes calls. */
  openWorker(): Promise<TestNode>;
  /** As if what our place keeps were older by years. */
  age(environment: Environment): Promise<void>;
  /** Moves what a place waits for, or what it keeps for a time. For the live place also what both environments share. */
  move(instants: Instants, seconds: number, teamId: number, environment: Environment): Promise<void>;
  close(): Promise<void>;
}

/** Columns by table. */
export type Instants = Readonly<Record<string, readonly string[]>>;

/** When something is due. */
export const DUE: Instants = {
  tasks: ["run_at", "due_at", "flow_due_at", "poll_at", "deadline_at"],
  schedules: ["next_run_at"],
  notifications: ["next_at"],
  simulations: ["next_at"],
  webhook_deliveries: ["next_at"],
  alert_messages: ["next_at"],
  bulks: ["next_at"],
  breakers: ["until", "opened_at"],
  flows: ["paused_until"],
  flow_permits: ["at"],
};

/** What is removed some time after it. */
export const KEPT: Instants = {
  tasks: ["completed_at"],
  dedupe_keys: ["free_at"],
  idempotency_keys: ["created_at"],
  message_keys: ["created_at"],
  events: ["at", "written_at"],
  bulks: ["ended_at", "created_at"],
  webhook_deliveries: ["created_at"],
  flows: ["used_at"],
  audit_events: ["at"],
};

/** People, credentials and teams cannot be in two teams at once; the rest can. */
const NOT_MIRRORED = /^(?:team_members|teams|api_keys|sessions|invitations|oauth_.*|signing_secrets)$/;

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

export async function openPlaces(): Promise<Places> {
  // Without room for calls: what a request makes due stays due.
  const options = { capacity: 0 };
  const server = await openTestServer({}, options);
  const app = await composeApi(server.services, refusePrivate, {
    log: pino({ level: "silent" }),
    version: "test",
    publicUrl: "https://bellhop.test",
    bodyLimitBytes: 1_048_576,
    trustProxy: ["127.0.0.1"],
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const sql = server.database;
  const world = await openWorld({ url }, sql);
  const numberOf = async (id: string) => {
    const rows = await sql.rows<{ id: number }>("select id from teams where public_id = $1", [
      parseId("team", id),
    ]);
    return rows[0]?.id ?? assert.fail("no such team");
  };
  const ourTeam = await numberOf(world.ours.id);
  const theirTeam = await numberOf(world.others.id);
  const tables = await sql.rows<Table>(
    `select c.table_name as name, array_agg(c.column_name::text) as columns
       from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
      group by 1 having bool_or(c.column_name = 'team_id') order by 1`,
  );
  const mirrored = tables.map(({ name }) => name).filter((name) => !NOT_MIRRORED.test(name));
  // What others refer to comes first.
  const copies = ["queues", ...mirrored].map((name) => copyStatement(name, [ourTeam, theirTeam]));
  const hashes = snapshotStatement(tables);
  // The other team's queues are those of ours, under the same ids.
  await sql.rows("delete from queues where team_id = $1", [theirTeam]);

  const move: Places["move"] = async (instants, seconds, teamId, environment) => {
    for (const table of tables) {
      const sets = instants[table.name]?.map((column) => `${column} = ${column} + make_interval(secs => $1)`);
      if (sets === undefined) continue;
      await sql.rows(
        `update ${table.name} t set ${sets} where team_id = $2 and coalesce(${sandboxOf(table)}, false) = $3`,
        [seconds, teamId, environment === "sandbox"],
      );
    }
  };
  const age: Places["age"] = async (environment) => {
    await move(KEPT, -2 * 366 * 86_400, ourTeam, environment);
    // Ids begin with the time of creation. The other team keeps the same ids, and its times.
    await sql.rows(
      `update tasks set id = ('0170' || substr(id::text, 5))::uuid
        where team_id = any($1) and sandbox = $2 and completed_at is not null`,
      [[ourTeam, theirTeam], environment === "sandbox"],
    );
  };

  return {
    server,
    world,
    sql,
    ourTeam,
    theirTeam,
    call: (environment, method, path, body, headers = {}) =>
      world.call(environment === "live" ? world.ours.liveKey : world.ours.testKey, method, path, body, {
        ...headers,
      }),
    mirror: () =>
      server.database.transaction(async (within) => {
        for (const copy of copies) await within.rows(copy);
      }),
    async snapshot() {
      const rows = await sql.rows<{ place: string; hash: string }>(hashes);
      return new Map(rows.map(({ place, hash }) => [place, hash]));
    },
    async clear() {
      const last = (name: string) => Number(name === "queues");
      for (const name of mirrored.toSorted((one, other) => last(one) - last(other)))
        await sql.rows(`delete from ${name} where team_id = any($1)`, [[ourTeam, theirTeam]]);
    },
    openWorker() {
      options.capacity = 100;
      return server.openNode();
    },
    age,
    move,
    async close() {
      await world.close();
      const closed = app.close();
      app.server.closeAllConnections();
      await closed;
      await server.close();
    },
  };
}

function copyStatement(table: string, [from, to]: readonly [number, number]): string {
  const row = `(to_jsonb(t) || '{"team_id": ${to}}')::text`;
  return `insert into ${table} overriding system value
          select (jsonb_populate_record(null::${table}, replace(${row}, '${OURS}', '${THEIRS}')::jsonb)).*
            from ${table} t where team_id = ${from} on conflict do nothing`;
}

/** One statement over all tables, with a row for each that has any in the place. */
function snapshotStatement(tables: readonly Table[]): Statement {
  const parts = tables.map(
    (table) =>
      `select '${table.name} ' || t.team_id || ' ' || case ${sandboxOf(table)} when true then 'sandbox' when false then 'live' else 'team' end as place,
              sum(hashtextextended(t::text, 0))::text as hash from ${table.name} t group by 1`,
  );
  const teams = "select 'teams ' || t.id || ' team', hashtextextended(t::text, 0)::text from teams t";
  return statement("isolation_snapshot", [...parts, teams].join(" union all "), { prepared: true });
}

/** Whether a row belongs to the sandbox, as SQL; null if its table belongs to both environments. */
function sandboxOf({ name, columns }: Table): string {
  if (name === "sandbox_clocks") return "true";
  // Queues belong to both environments.
  if (name === "events") return `case when t.entries::text like '%"queue.%' then null else t.sandbox end`;
  if (columns.includes("sandbox")) return "t.sandbox";
  if (columns.includes("environment")) return "t.environment = 'test'";
  const owner = columns.includes("task_id")
    ? ["tasks", "task_id", "k.sandbox"]
    : ["bulks", "bulk_id", "k.environment = 'test'"];
  if (!columns.includes(owner[1] ?? "")) return "null::boolean";
  return `(select ${owner[2]} from ${owner[0]} k where k.team_id = t.team_id and k.id = t.${owner[1]})`;
}

/** The name of everything that has one, in every place. */
export const SHARED = "same";
export const TO = "http://127.0.0.1:9/";
const YEARLY = "0 0 1 1 *";

/** How to make what a path names by a name that other places may have too. */
export const NAMED: readonly {
  readonly pattern: RegExp;
  make(places: Places, environment: Environment, name: string): Promise<Answer>;
}[] = [
  {
    pattern: /^\w+ \/(?:v1\/flows\/|v2\/flowControl\/):/,
    make: ({ call }, environment, name) =>
      call(environment, "PUT", `/v1/flows/${name}`, { concurrency: 2, rate: 5, period: 60 }),
  },
  {
    pattern: /^\w+ \/v1\/schedules\/:/,
    make: ({ call }, environment, name) =>
      call(environment, "PUT", `/v1/schedules/${name}`, {
        cron: YEARLY,
        task: { queue: "default", webhook_url: TO, payload: { word: wordOf(environment) } },
      }),
  },
  {
    pattern: /^\w+ \/v2\/schedules\/:/,
    make: ({ call }, environment, name) =>
      call(
        environment,
        "POST",
        `/v2/schedules/${TO}`,
        { word: wordOf(environment) },
        { "Upstash-Cron": YEARLY, "Upstash-Schedule-Id": name },
      ),
  },
];

function taskOf(environment: Environment) {
  const word = wordOf(environment);
  const simulate = { outcome: "complete", body: word };
  return {
    queue: SHARED,
    webhook_url: TO,
    payload: { word },
    tags: [SHARED],
    metadata: { word },
    on_complete_url: TO,
    ...(environment === "sandbox" && { simulate }),
  };
}

/** Of every kind of key, the same in all places. */
export function keyedTask(environment: Environment) {
  const dedupe = { key: SHARED, mode: "debounce", window: 3600 };
  const flow = { key: SHARED, rate: 3, period: 60 };
  return { ...taskOf(environment), idempotency_key: SHARED, dedupe, flow };
}

async function hasQueue({ call }: Places, name: string): Promise<boolean> {
  return (await call("live", "GET", `/v1/queues/${name}`)).status === 200;
}

/** Makes what can have a name under the same name in every place. Resolves with the id of a message of each environment. */
export async function fillPlaces(places: Places): Promise<Readonly<Record<Environment, string>>> {
  const messages = { live: "", sandbox: "" };
  const { call, world } = places;
  const TEAM = `${OURS}-team`;
  const ask = async (
    environment: Environment,
    method: string,
    path: string,
    body: unknown,
    headers: object = {},
  ) => {
    const { status, json } = await call(environment, method, path, body, headers);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  };
  const breaker = { failures: 5, ratio: 0.5, within: 60, cooldown: 30 };
  if (!(await hasQueue(places, "default"))) await ask("live", "POST", "/v1/queues", { name: "default" });
  await ask("live", "POST", "/v1/queues", { name: SHARED, concurrency: 2, breaker });
  await ask("live", "PUT", `/v1/url-groups/${SHARED}`, { endpoints: [{ url: `${TO}${TEAM}` }] });
  await ask("live", "POST", "/v1/webhooks", {
    url: `${TO}${TEAM}`,
    events: ["task.completed", "task.created"],
  });
  const when = { kind: "depth", queue: SHARED, threshold: 1000, for: 0 };
  await ask("live", "POST", "/v1/alerts", { name: TEAM, when, notify: [{ url: TO }] });
  await world.openBreaker(world.ours, `${SHARED}.example`);
  for (const environment of ["live", "sandbox"] as const) {
    const word = wordOf(environment);
    // The other names are what a list that shows too much shows.
    for (const { make } of NAMED) await make(places, environment, `0-${word}`);
    for (const { make } of NAMED.slice(0, 2)) await make(places, environment, SHARED);
    await NAMED[2]?.make(places, environment, `${SHARED}-message`);
    await ask(environment, "POST", "/v1/tokens", { name: word, value: `Bearer ${word}` });
    await ask(environment, "POST", "/v1/tasks", keyedTask(environment));
    const direct = {
      targetUrl: TO,
      delay: 3600,
      body: { word },
      flow: SHARED,
      waitForCallback: true,
      tags: [SHARED],
    };
    await ask(environment, "POST", "/v1/tasks", direct);
    const message = {
      "Upstash-Deduplication-Id": SHARED,
      "Upstash-Label": SHARED,
      "Upstash-Flow-Control-Key": SHARED,
      "Upstash-Flow-Control-Value": "parallelism=2",
      "Upstash-Delay": "1h",
    };
    const { messageId } = await ask(environment, "POST", `/v2/publish/${TO}`, { word }, message);
    const failed = await ask(
      environment,
      "POST",
      `/v2/publish/${TO}`,
      { word },
      { "Upstash-Label": SHARED, "Upstash-Delay": "1h" },
    );
    messages[environment] = messageId;
    await world.fail(failed.messageId);
    const { id } = await ask(environment, "POST", "/v1/tasks", { ...taskOf(environment), delay: 3600 });
    await ask(environment, "POST", `/v1/tasks/${id}/cancel`, undefined);
    await ask(environment, "POST", "/v1/tasks/bulk", { action: "retry", filter: { tag: SHARED }, rate: 1 });
    // As if calls of the flow had begun.
    await places.sql.rows(
      `with held as (
         insert into flow_holds (team_id, sandbox, flow, task_id, fence, permit_at) values ($1, $2, $3, gen_random_uuid(), 1, now())
       )
       insert into flow_permits (team_id, sandbox, flow, at, count) values ($1, $2, $3, now(), 1)`,
      [places.ourTeam, environment === "sandbox", SHARED],
    );
  }
  await ask("sandbox", "POST", "/v1/sandbox/advance", { seconds: 100 });
  return messages;
}
