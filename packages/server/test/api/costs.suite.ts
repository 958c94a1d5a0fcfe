import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fastify, { type FastifyContextConfig, type RouteOptions } from "fastify";
import { costs, requireCosts } from "../../src/api/http/cost.ts";
import { COST_ROWS } from "./cost-rows.ts";
import { createTestApi } from "./test-api.ts";

describe("the cost of a route", () => {
  it("is declared by every route as it is repeated by hand", async () => {
    const declared: Record<string, readonly unknown[]> = {};
    const onRoute = ({ method, url, config }: RouteOptions) => {
      const cost = config?.cost;
      if (cost === undefined) assert.fail(`${method} ${url} has no cost`);
      if (method !== "HEAD") declared[`${method} ${url}`] = [cost.kind, cost.rows, cost.bytes];
    };
    await (await createTestApi({ onRoute })).close();
    assert.deepEqual(declared, COST_ROWS);
  });

  it("is told of a scan: the reference names the refusal of one too many", async () => {
    const { call } = await createTestApi();
    const { paths } = (await call("GET", "/openapi.json")).body;
    const told: string[] = [];
    for (const [path, operations] of Object.entries<object>(paths))
      for (const [method, operation] of Object.entries(operations))
        if (JSON.stringify(operation).includes("too_many_scans"))
          told.push(`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`);
    const scans = Object.keys(COST_ROWS).filter((route) => COST_ROWS[route]?.[0] === "scan");
    assert.deepEqual(told.sort(), scans.filter((route) => route.includes(" /v1/")).sort());
  });

  it("is required of a route before the server starts", async () => {
    const app = fastify();
    requireCosts(app);
    const add = (config?: FastifyContextConfig) => () =>
      app.get("/list", config === undefined ? {} : { config }, async () => []);
    assert.throws(add(), /GET \/list does not declare its cost/);
    assert.throws(
      add(costs("page", { rows: 5_000, bytes: 1 })),
      /costs 5000 rows: a page costs at most 1001/,
    );
    assert.throws(add(costs("fan-out", { rows: 1, bytes: 2 ** 21 })), /a fan-out costs at most 1048576/);
    assert.throws(add(costs("point", { rows: Number.NaN, bytes: 1 })), /costs NaN rows/);
    assert.throws(add(costs("page", { rows: 1, bytes: 1, unless: () => true })), /only a scan/);
    add(costs("page", { rows: 100, bytes: 1 }))();
    await app.close();
  });
});
