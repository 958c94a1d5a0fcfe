import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { request } from "undici";
import { parseMetrics } from "../metrics/parse-metrics.ts";
import { ROOT } from "../places.ts";
import { createTestDatabase, type TestDatabase, testServer } from "../test-database.ts";
import { type ServerProcess, startServer, until } from "./server-process.ts";

const TOKEN = "a-token-from-a-file";

describe("the metrics of a server in production", () => {
  let home: string;
  let test: TestDatabase;
  let server: ServerProcess;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), "bellhop-metrics-"));
    await writeFile(join(home, "token"), `${TOKEN}\n`);
    test = await createTestDatabase();
    const { host, port, user, database } = test.connection;
    server = await startServer({
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_PUBLIC_URL: "https://bellhop.example.com",
      BELLHOP_METRICS_TOKEN_FILE: join(home, "token"),
    });
  });
  after(async () => {
    server.signal("SIGKILL");
    await server.exited;
    await test.drop();
    await rm(home, { recursive: true, force: true });
  });

  it("belong to an exposed server, whose banner names its restrictions", async () => {
    const why = "(BELLHOP_PUBLIC_URL https://bellhop.example.com can be reached from outside; ";
    assert.ok(server.stdout.includes(`are refused ${why}BELLHOP_EGRESS says otherwise)`), server.stdout);
    assert.ok(server.stdout.includes(`can sign in ${why}BELLHOP_SIGN_UP says otherwise)`));
    assert.match(server.stdout, /sign-in {3}links by .*session link <email>, because no mail server is set/);

    const email = "stranger@example.com";
    const asked = await request(`${server.url}/v1/auth/magic-link`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email }),
    });
    assert.equal(asked.statusCode, 202);
    assert.equal((await test.database.rows("select 1 from sign_in_links")).length, 0);
    assert.ok(!server.stderr.includes(email) && !server.stderr.includes("token="));
  });

  async function scrape(token: string) {
    const answer = await request(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.statusCode, body: await answer.body.text() };
  }

  it("answer 401 to a scrape without the right token", async () => {
    assert.equal((await scrape(TOKEN)).status, 200);
    const { status, body } = await scrape("another");
    assert.equal(status, 401);
    assert.match(JSON.parse(body).error, /BELLHOP_METRICS_TOKEN/);
  });

  it("are exactly those described in docs/metrics.md", async () => {
    const page = await readFile(join(ROOT, "docs/metrics.md"), "utf8");
    const rows = [...page.matchAll(/^\| `(bellhop_\w+)` \| (\w+) \|(.*?)\|/gm)];
    const described = rows.map(([, name, type, labels = ""]) => [
      name,
      type,
      [...labels.matchAll(/\w+/g)].map(([label]) => label).sort(),
    ]);
    const { families } = parseMetrics((await scrape(TOKEN)).body);
    const shown = [...families]
      .filter(([name]) => name.startsWith("bellhop_"))
      .map(([name, { type, samples }]) => {
        const labels = samples.flatMap((sample) => Object.keys(sample.labels));
        return [name, type, [...new Set(labels)].filter((label) => label !== "le").sort()];
      });
    assert.deepEqual(shown.sort(), described.sort());
    for (const name of ["process_open_fds", "nodejs_eventloop_lag_p99_seconds"])
      assert.ok(families.has(name) && page.includes(name), name);
  });

  it("include every metric and label that the Grafana dashboard and the alerts use", async () => {
    const dashboard = JSON.parse(await readFile(join(ROOT, "ops/grafana-dashboard.json"), "utf8"));
    const panels: { title: string; targets?: { expr: string }[] }[] = dashboard.panels;
    const alerts = await readFile(join(ROOT, "ops/prometheus-alerts.yml"), "utf8");
    const asked = [
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...[...alerts.matchAll(/^ +expr: (?:>\n((?: {10}.+\n)+)|(.+)$)/gm)].map(
        ([, folded, line]) => folded ?? line ?? "",
      ),
    ];
    assert.ok(
      asked.length > 30 && [...alerts.matchAll(/- alert:/g)].length === alerts.match(/ expr: /g)?.length,
    );
    const { families } = parseMetrics((await scrape(TOKEN)).body);
    const labelsOf = (name: string) => {
      const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
      assert.ok(family !== undefined, `${name} is no metric of a running server`);
      return new Set([
        "job",
        "instance",
        "le",
        ...family.samples.flatMap(({ labels }) => Object.keys(labels)),
      ]);
    };
    for (const expr of asked) {
      const names = [...expr.matchAll(/\b(?:bellhop|process|nodejs)_\w+/g)].map(([name]) => name);
      const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
      for (const name of names) {
        const known = labelsOf(name);
        const chosen = new RegExp(`${name}\\{([^}]*)\\}`).exec(expr)?.[1] ?? "";
        const labels = [...grouped, ...[...chosen.matchAll(/(\w+)=/g)].map(([, label = ""]) => label)];
        assert.deepEqual(
          labels.filter((label) => !known.has(label)),
          [],
          `${expr} asks ${name} for a label it has not`,
        );
      }
      assert.ok(names.length > 0 || expr.startsWith("up{"), expr);
    }
  });

  it("are served without per-queue values while the database is down", async (context) => {
    const { database } = test.connection;
    const hand = new pg.Client(testServer());
    await hand.connect();
    context.after(() => hand.end());
    await hand.query(`alter database ${database} with allow_connections false`);
    const endAll = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
    let scraped = parseMetrics("\n");
    // What was read before is shown for 5 seconds.
    await until(async () => {
      await hand.query(endAll, [database]);
      const { status, body } = await scrape(TOKEN);
      assert.equal(status, 200);
      scraped = parseMetrics(body);
      return scraped.value("bellhop_database_up") === 0;
    });

    assert.equal(scraped.labelValues("queue").size, 0);
    assert.equal(scraped.value("bellhop_tasks_created_total", { kind: "queue" }), 0);
  });
});
