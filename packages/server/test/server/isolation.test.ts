import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestNode } from "../test-server.ts";
import { ACCESS_ROWS, type AccessRow } from "./access-rows.ts";
import type { Answer } from "./access-world.ts";
import {
  DUE,
  type Environment,
  fillPlaces,
  keyedTask,
  NAMED,
  openPlaces,
  type Places,
  SHARED,
  type Snapshot,
  THEIRS,
  TO,
  wordOf,
} from "./isolation-places.ts";

const ENVIRONMENTS: readonly Environment[] = ["live", "sandbox"];
const OTHER = { live: "sandbox", sandbox: "live" } as const;

/** What both environments of a team share, and a request of a test key may change. */
const SHARED_CHANGES = new Map([
  ["api_keys", "the last use of the key"],
  ["audit_events", "a list of the team"],
  ["events", "what happens to its queues"],
  ["listeners", "whether anybody follows the team's events"],
  ["queues", "a test key may create one"],
]);

const HOUR = 3600;

/** What a round does for all teams. */
const WORK_ON_ALL = new Map([
  ["queue_tallies", "rows are added up, with the same sums"],
  ["queue_stats", "the depth of every queue is recorded"],
]);

/** Where something must have happened, or the test would show nothing. */
const WORKED_ON = {
  live: [
    "tasks",
    "schedules",
    "notifications",
    "bulks",
    "webhook_deliveries",
    "dedupe_keys",
    "idempotency_keys",
    "message_keys",
    "flows",
  ],
  sandbox: [
    "tasks",
    "schedules",
    "notifications",
    "bulks",
    "simulations",
    "dedupe_keys",
    "idempotency_keys",
    "message_keys",
    "flows",
  ],
} as const;

/** Requests beside those of the matrix, about what has the same name in all places. */
const ABOUT_NAMES: readonly (readonly [string, string, unknown?, object?])[] = [
  ["GET", `/v1/tasks?tag=${SHARED}&limit=100`],
  ["GET", `/v1/tasks?queue=${SHARED}&limit=100`],
  ["GET", "/v1/schedules?limit=100"],
  ["GET", "/v1/flows?limit=100"],
  ["GET", `/v2/logs?label=${SHARED}`],
  ["GET", `/v2/dlq?label=${SHARED}`],
  ["GET", `/v1/queues/${SHARED}`],
  ["GET", `/v1/flows/${SHARED}`],
  ["GET", `/v1/schedules/${SHARED}`],
  [
    "POST",
    "/v1/tasks",
    { queue: SHARED, webhook_url: TO, dedupe: { key: SHARED, mode: "debounce", window: 60 } },
  ],
  ["POST", "/v1/tasks", { queue: SHARED, webhook_url: TO, delay: 60, flow: { key: SHARED, concurrency: 9 } }],
  ["POST", `/v2/publish/${TO}`, {}, { "Upstash-Deduplication-Id": SHARED, "Upstash-Delay": "1h" }],
  ["POST", `/v1/schedules/${SHARED}/run`],
  ["POST", `/v1/flows/${SHARED}/pause`],
  ["POST", `/v1/flows/${SHARED}/resume`],
  ["POST", `/v1/flows/${SHARED}/reset`],
  ["PUT", `/v1/flows/${SHARED}`, { concurrency: 7 }],
  ["DELETE", `/v1/flows/${SHARED}`],
  ["POST", "/v1/tasks/bulk", { action: "retry", filter: { tag: SHARED } }],
  ["POST", `/v2/dlq/retry?label=${SHARED}`],
  ["DELETE", `/v2/dlq?label=${SHARED}`],
  ["DELETE", `/v2/messages?label=${SHARED}`],
  ["PATCH", `/v1/schedules/${SHARED}`, { cron: "0 0 2 1 *" }],
  ["DELETE", `/v1/schedules/${SHARED}`],
];

describe("a request", () => {
  let places: Places;
  let messages: Awaited<ReturnType<typeof fillPlaces>>;
  let known: Awaited<ReturnType<Places["snapshot"]>>;
  /** What each request is about, by environment and route. */
  const made = new Map<string, string>();

  before(async () => {
    places = await openPlaces();
    messages = await fillPlaces(places);
    for (const environment of ENVIRONMENTS)
      for (const [route, row] of rowsOf(environment))
        made.set(`${environment} ${route}`, await make(row, route, environment));
    await places.mirror();
    known = await places.snapshot();
  });
  after(() => places.close());

  async function make(row: AccessRow, route: string, environment: Environment): Promise<string> {
    const { world } = places;
    const named = row.make === undefined ? undefined : NAMED.find(({ pattern }) => pattern.test(route));
    if (named !== undefined) {
      const name = `named-${made.size}`;
      for (const each of ENVIRONMENTS) ok(await named.make(places, each, name), route);
      return name;
    }
    const own = environment === "live" ? row.make : (row.makeTest ?? row.makeSandbox ?? row.make);
    return (await own?.(world, world.ours)) ?? "";
  }

  /** Nothing of the other places has changed, and nothing of them is in the answer. */
  async function stays(what: string, environment: Environment, answer: Answer): Promise<void> {
    const before = known;
    known = await places.snapshot();
    const foreign = changedPlaces(before, known).filter((place) => isForeign(place, environment));
    assert.deepEqual(foreign, [], `${what} of the ${environment} key changed rows of another place`);
    const said = JSON.stringify([answer.json, answer.headers]);
    for (const word of [THEIRS, wordOf(OTHER[environment])])
      assert.ok(
        !said.includes(word),
        `${what} of the ${environment} key told what is of another place: ${said}`,
      );
  }

  function isForeign(place: string, environment: Environment): boolean {
    const [table = "", team, part] = place.split(" ");
    if (Number(team) !== places.ourTeam) return Number(team) === places.theirTeam;
    if (part === OTHER[environment]) return true;
    return part === "team" && environment === "sandbox" && !SHARED_CHANGES.has(table);
  }

  for (const environment of ENVIRONMENTS) {
    for (const [route, row] of rowsOf(environment)) {
      it(`${route} of the ${environment} environment leaves all other places as they are`, async () => {
        const { world } = places;
        const [method = "", pattern = ""] = route.split(" ");
        const id = made.get(`${environment} ${route}`) ?? "";
        const ids = id.split(" ");
        const path = (row.path ?? pattern.replace(/:\w+/g, () => ids.shift() ?? "")) + (row.query ?? "");
        const { liveKey, testKey, newViewer } = world.ours;
        const key = environment === "live" ? liveKey : testKey;
        const credential = row.scope === "session" ? await newViewer() : key;
        const answer = await world.call(credential, method, path, row.bodyOf?.(id) ?? row.body, row.headers);
        assert.equal(answer.status < 300, row.status < 300, JSON.stringify(answer.json));
        await stays(route, environment, answer);
      });
    }
    for (const [method, path, body, headers] of [
      ...ABOUT_NAMES,
      ["POST", "/v1/tasks", keyedTask(environment)],
    ] as const) {
      const what = `${method} ${path} with ${Object.keys({ ...(body as object), ...headers }).join() || "nothing"}`;
      it(`${what} of the ${environment} environment leaves what has the same name elsewhere`, async () => {
        const answer = await places.call(environment, method, path, body, headers);
        ok(answer, what);
        await stays(what, environment, answer);
      });
    }
    it(`the ${environment} key takes back no message of the other environment by its id`, async () => {
      const path = `/v2/messages?messageIds=${messages[OTHER[environment]]}`;
      await stays(path, environment, await places.call(environment, "DELETE", path));
    });
  }

  describe("and what becomes due", () => {
    let worker: TestNode;

    before(async () => {
      worker = await prepareDueWork(places);
      known = await places.snapshot();
    });

    for (const environment of ["sandbox", "live"] as const) {
      it(`is done in the ${environment} environment and nowhere else`, async () => {
        const changed = new Set<string>();
        const isDone = async (what: string) => {
          const before = known;
          known = await places.snapshot();
          const all = changedPlaces(before, known);
          for (const place of all) changed.add(place);
          const foreign = all.filter((place) => isForeignWork(place, environment));
          assert.deepEqual(foreign, [], `${what} of the ${environment} place changed rows of another place`);
        };

        await places.move(DUE, 48 * HOUR, places.ourTeam, OTHER[environment]);
        known = await places.snapshot();
        await places.move(DUE, -50 * HOUR, places.ourTeam, environment);
        await isDone("the passing of time");
        await worker.dispatchOnce();
        await isDone("the dispatcher");
        for (const { name, once } of worker.engine.actors.all) {
          await once();
          await finishCalls(worker);
          await isDone(name);
        }
        await places.age(environment);
        known = await places.snapshot();
        for (const name of ["janitor", "retention"]) {
          await actor(worker, name).once();
          await isDone(name);
        }
        for (const table of WORKED_ON[environment])
          assert.ok(
            [...changed].some((place) => place.startsWith(`${table} ${places.ourTeam} `)),
            `nothing was due in ${table}: ${[...changed]}`,
          );
      });
    }
  });

  function isForeignWork(place: string, environment: Environment): boolean {
    const [table = "", team, part] = place.split(" ");
    if (WORK_ON_ALL.has(table)) return false;
    return (
      Number(team) === places.theirTeam || (Number(team) === places.ourTeam && part === OTHER[environment])
    );
  }
});

/** Both teams have the same, in every state that waits for something, and nothing is due. */
async function prepareDueWork(places: Places): Promise<TestNode> {
  const { server, ourTeam, theirTeam } = places;
  await places.clear();
  await fillPlaces(places);
  const worker = await places.openWorker();
  server.target.answer = ({ path }, response) =>
    void response.writeHead(path === "/no" ? 500 : 200).end("{}");
  const urlTemplate = `${server.target.url}/job`;
  const poll = { urlTemplate, interval: 60, statusPath: "status", doneValues: ["done"], failValues: ["no"] };
  for (const environment of ENVIRONMENTS) {
    const simulate = environment === "sandbox" ? { outcome: "complete" } : undefined;
    for (const more of [
      { url: "/ok", onCompleteUrl: `${server.target.url}/told` },
      { url: "/no", retryDelay: 3600 },
      { url: "/ok", waitForCallback: true },
      { url: "/ok", pollConfig: poll },
      { url: "/ok", flow: SHARED, tags: [SHARED] },
    ]) {
      const { url, ...rest } = more;
      const word = wordOf(environment);
      const task = {
        targetUrl: `${server.target.url}${url}`,
        body: { word },
        metadata: { word },
        simulate,
        ...rest,
      };
      ok(await places.call(environment, "POST", "/v1/tasks", task), url);
    }
  }
  for (let round = 0; round < 2; round += 1) {
    await server.quiet();
    await worker.dispatchOnce();
    for (const name of ["sandbox", "webhooks", "alerts"]) await actor(worker, name).once();
  }
  await server.quiet();
  await places.mirror();
  await places.sql.rows("delete from queue_slots where team_id = $1", [theirTeam]);
  for (const name of ["webhooks", "janitor", "retention"]) await actor(worker, name).once();
  for (const team of [ourTeam, theirTeam])
    for (const environment of ENVIRONMENTS) await places.move(DUE, HOUR, team, environment);
  return worker;
}

function actor(worker: TestNode, name: string) {
  return worker.engine.actors.all.find((each) => each.name === name) ?? assert.fail(`no actor ${name}`);
}

async function finishCalls({ engine }: TestNode): Promise<void> {
  for (const { finished } of [engine.poller, engine.courier, engine.webhookCourier]) await finished();
  await engine.attempts.finished();
}

function changedPlaces(before: Snapshot, after: Snapshot): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (place) => before.get(place) !== after.get(place),
  );
}

function ok({ status, json }: Answer, what: string): void {
  assert.ok(status < 300, `${what}: ${status} ${JSON.stringify(json)}`);
}

/** The routes that one may use with a key of this environment; those for a session count as live. */
function rowsOf(environment: Environment): [string, AccessRow][] {
  return Object.entries(ACCESS_ROWS).filter(([, { scope, role, live, test }]) => {
    if (scope === "public") return false;
    if (environment === "live") return test !== true;
    return scope !== "session" && live !== true && role !== "admin";
  });
}
