import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { readFilter } from "../../src/features/qstash/domain-filter.ts";
import { createMessageService } from "../../src/features/qstash/service-messages.ts";
import type { Scan } from "../../src/service/scan-line.ts";
import { inTime, until } from "../patience.ts";
import { principalOf } from "../test-principal.ts";
import { createGate } from "../test-sql.ts";
import { ALL_TASKS } from "../test-store.ts";
import { COST_ROWS } from "./cost-rows.ts";
import { type Answer, createTestApi, type TestApi } from "./test-api.ts";
import type { TestTeam } from "./test-team.ts";

const TASK = { queue: "default", webhook_url: "http://127.0.0.1:9/", delay: 3600 };
const MOST_OF_A_TEAM = 20;

describe("a route that declares the cost of a scan", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  /** A scan that works until the test ends it. */
  async function hold(teamId: number): Promise<Scan> {
    const scan = api.services.scans.admit(teamId);
    await scan.take();
    return scan;
  }

  /** Both places of the node, by two teams that ask for nothing else. */
  const holdNode = async () => {
    const teams = [await api.openTeam(), await api.openTeam()];
    return Promise.all(teams.map(({ id }) => hold(id)));
  };

  const ask = ({ headers }: TestTeam, url: string) => api.send({ method: "GET", url, headers });

  function isFull(teamId: number): boolean {
    try {
      api.services.scans.admit(teamId).end();
      return false;
    } catch {
      return true;
    }
  }

  const scans = Object.entries(COST_ROWS).flatMap(([route, [kind]]) => (kind === "scan" ? [route] : []));
  /** What the routes need beyond their path to be answered. */
  const BODIES: Readonly<Record<string, object>> = {
    "POST /v1/tasks/bulk": { action: "retry", filter: { queue: "none" }, dry_run: true },
    "DELETE /v2/topics/:name/endpoints": { endpoints: [{ name: "none" }] },
  };
  const queryOf = (route: string) => {
    if (route.includes("/v1/stats")) return "?range=1h";
    return /^(DELETE|POST) \/v2\/(dlq|messages)/.test(route) ? "?label=nobody" : "";
  };

  for (const routes of [scans.slice(0, MOST_OF_A_TEAM - 1), scans.slice(MOST_OF_A_TEAM - 1)])
    it(`waits for its turn and gives its place back with its answer: ${routes.join(", ")}`, async () => {
      const team = await api.openTeam();
      const held = await holdNode();
      const others = Array.from({ length: MOST_OF_A_TEAM - routes.length }, () =>
        api.services.scans.admit(team.id),
      );
      const answered: string[] = [];

      const answers = routes.map(async (route) => {
        const [method = "", pattern = ""] = route.split(" ");
        const path = pattern.replace(/:\w+/g, "task_01k9z3mxe5f8hrk3yv5pzq8c2d");
        const body = BODIES[route];
        const { status, text } = await api.send({
          method: method as "GET",
          url: path + queryOf(route),
          headers: { ...team.headers, ...(body && { "content-type": "application/json" }) },
          ...(body && { payload: JSON.stringify(body) }),
        });
        answered.push(route);
        assert.ok([200, 201, 404].includes(status), `${route}: ${text}`);
      });
      await until(() => isFull(team.id));
      assert.equal((await ask(team, "/v1/me")).status, 200);
      assert.deepEqual(answered, []);

      for (const scan of held) scan.end();
      await Promise.all(answers);
      assert.deepEqual(answered.sort(), [...routes].sort());
      for (const scan of others) scan.end();
      (await hold(team.id)).end();
    });

  it("lets other routes pass, and pages of one queue and messages by their ids", async () => {
    const held = await holdNode();
    const created = await api.call("POST", "/v1/tasks", TASK);
    const paths = [
      `/v1/tasks/${created.body.id}`,
      "/v1/tasks?queue=default&status=pending&limit=5",
      "/v2/logs?messageId=0190a0a0-0000-7000-8000-000000000000",
      "/v1/queues",
    ];
    const statuses = await Promise.all(paths.map(async (path) => (await api.call("GET", path)).status));
    assert.deepEqual([created.status, ...statuses], [201, 200, 200, 200, 200]);
    for (const scan of held) scan.end();
  });

  it("does not keep another team's scan from its turn, is refused beyond twenty, and never once admitted", async () => {
    const [greedy, other] = [await api.openTeam(), await api.openTeam()];
    const held = await hold(greedy.id);
    const admitted: Promise<Answer>[] = [];
    while (admitted.length < MOST_OF_A_TEAM - 1) admitted.push(ask(greedy, "/v1/flows"));
    await until(() => isFull(greedy.id));

    const refused = await ask(greedy, "/v2/flowControl");
    assert.deepEqual([refused.status, refused.headers["retry-after"]], [429, "2"]);
    assert.equal(refused.body.error, "Too many searches of the team wait for their turn: try again later");
    assert.equal((await ask(other, "/v1/stats/failures?range=1h")).status, 200);

    held.end();
    const statuses = (await Promise.all(admitted)).map(({ status }) => status);
    assert.deepEqual([...new Set(statuses)], [200]);
  });

  it("keeps no place while it cancels: a dry run of another team is answered meanwhile", async () => {
    const gate = createGate();
    const { database } = api.server;
    const { tasks, scans, features } = api.services;
    let reached = 0;
    const cancel: typeof tasks.cancel = async (...task) => {
      reached += 1;
      await gate.wait();
      return tasks.cancel(...task);
    };
    const messages = createMessageService({ database, tasks: { ...tasks, cancel } });
    const everything = readFilter(new Map(), []);
    const removals = [await api.openTeam(), await api.openTeam()].map(async ({ id, headers }) => {
      const published = await api.send({
        method: "POST",
        url: "/v2/publish/http://127.0.0.1:9/",
        headers: { ...headers, "upstash-delay": "1h" },
      });
      assert.equal(published.status, 200, published.text);
      return messages.cancelAll(principalOf(id), everything, scans.admit(id));
    });
    await until(() => reached === removals.length);

    const { id } = await api.openTeam();
    const count = features.bulkActions.service.count;
    const dryRun = scans.admit(id);
    await inTime(dryRun.take(), () => "the turn of the dry run");
    assert.equal(await count(principalOf(id), { ...ALL_TASKS, sandbox: null }, dryRun), 0);

    gate.open();
    assert.deepEqual(await Promise.all(removals), [1, 1]);
  });
});
