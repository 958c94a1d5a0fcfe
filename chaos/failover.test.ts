import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { SERVER } from "../packages/server/test/places.ts";
import { runFailover } from "./failover.ts";

it("nodes on a replicated database lose no task when the primary dies, and use the standby", async () => {
  const { violations, lines } = await runFailover({
    distDir: join(SERVER, "dist"),
    how: "kill",
    nodes: 1,
    seconds: 0.5,
    comesBack: false,
    say: () => {},
  });
  assert.deepEqual(violations, [], lines.join("\n"));
});
