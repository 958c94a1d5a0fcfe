import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { runFailover } from "./failover.ts";

it("nodes on a replicated database lose nothing when its primary dies, and follow to the standby", async () => {
  const { violations, lines } = await runFailover({
    distDir: fileURLToPath(new URL("../packages/server/dist", import.meta.url)),
    how: "kill",
    nodes: 1,
    seconds: 0.5,
    comesBack: false,
    say: () => {},
  });
  assert.deepEqual(violations, [], lines.join("\n"));
});
