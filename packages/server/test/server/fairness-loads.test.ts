import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ACTOR_LOADS } from "../../../../attack/fairness/actor-loads.ts";
import { LOADS_OF } from "../../../../attack/fairness/actors.ts";
import { ROUTES } from "../../../../attack/fairness/route-loads.ts";
import { COST_ROWS } from "../api/cost-rows.ts";
import { ROOT } from "../places.ts";
import { openTestServer } from "../test-server.ts";

describe("the loads made from declared costs", () => {
  it("include every actor, or say why no team can load it", async () => {
    const server = await openTestServer();
    const actors = [...server.engine.actors.costs.keys()];
    await server.close();
    assert.deepEqual(Object.keys(LOADS_OF).sort(), actors.sort());
    const files = readdirSync(join(ROOT, "attack", "scenes")).map((file) => file.replace(/\.ts$/, ""));
    const named = Object.values(LOADS_OF).flatMap((loads) => (typeof loads === "string" ? [] : loads));
    for (const name of Object.keys(ACTOR_LOADS)) assert.ok(named.includes(name), `${name} loads no actor`);
    for (const name of named)
      assert.ok(name in ACTOR_LOADS || files.includes(name), `there is no scene ${name}`);
  });

  it("include every route that a request can reach with an access row", () => {
    // The pages of the reference are files of a library, the same for everybody.
    const others = Object.keys(COST_ROWS).filter(
      (route) => !ROUTES.includes(route) && !/^GET \/docs\//.test(route),
    );
    assert.deepEqual(others, []);
  });
});
