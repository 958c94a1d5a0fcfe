import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGauge } from "../rig/gauge-process.ts";
import { OFTEN_MS, warmUp } from "../rig/run-scene.ts";
import { openStage } from "../rig/stage.ts";
import { playRoutes, ROUTE_SETTINGS, type RouteResult } from "./route-loads.ts";

/** On a server of their own. */
export async function* runRouteLoads(routes: readonly string[]): AsyncGenerator<RouteResult> {
  const logs = mkdtempSync(join(tmpdir(), "bellhop-attack-log-"));
  const stage = await openStage({ env: ROUTE_SETTINGS }, join(logs, "server.log"));
  try {
    await warmUp(stage);
    const victim = await stage.team({ owner: "victim@example.com", plan: "enterprise" });
    const gauge = await startGauge(join(logs, "gauge.log"));
    try {
      gauge.watch({ url: stage.url, pid: stage.pid, victim: "task", key: victim.key, everyMs: OFTEN_MS });
      yield* playRoutes(stage, gauge, routes);
    } finally {
      await gauge.stop();
    }
  } finally {
    await stage.stop();
    rmSync(logs, { recursive: true, force: true });
  }
}
