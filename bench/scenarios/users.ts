import type { RunOptions } from "../rig.ts";
import { type BellhopSetting, bellhop } from "../subjects/bellhop.ts";
import {
  type Bench,
  recordCpu,
  recordPostgres,
  type Scenario,
  type Variant,
  warmUp,
  withBellhop,
} from "./scenario.ts";

const connections = 64;
const longWarmUp = 60_000;
// So large that it refuses nothing here.
const requestsPerMinute = 10_000_000;

/** What a common proxy adds to a request, and what an HTTP client brings along. */
const proxyHeaders = {
  "user-agent": "bellhop-sdk/0.1.0 node/20",
  accept: "application/json",
  "accept-encoding": "gzip, deflate, br",
  "x-forwarded-for": "203.0.113.7",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "tasks.example.com",
  "x-forwarded-port": "443",
  "x-real-ip": "203.0.113.7",
  "x-request-id": "0af7651916cd43dd8448eb211c80319c",
};

interface Usage {
  setting?: Partial<Pick<BellhopSetting, "env" | "requestsPerMinute">>;
  headers?: Record<string, string>;
  run?: RunOptions;
  warmUpTasks?: number;
}

const keyed: Usage = { run: { keyed: true } };
const behindProxy: Usage = {
  // Without the second a server behind a proxy calls no target on its own machine.
  setting: { env: { BELLHOP_TRUST_PROXY: "127.0.0.1", BELLHOP_EGRESS_ALLOW: "127.0.0.1" } },
  headers: proxyHeaders,
};
const logged: Usage = { setting: { env: { LOG_LEVEL: "info" } } };
const limited: Usage = { setting: { requestsPerMinute } };
const allTogether: Usage = {
  setting: { requestsPerMinute, env: { ...behindProxy.setting?.env, ...logged.setting?.env } },
  headers: proxyHeaders,
  run: { keyed: true },
};

/** The other scenarios submit as few can; these are as most do. */
export const users: Scenario = {
  name: "users",
  about: `tasks as users submit them, ${connections} connections in a closed loop; plain is as in hand-off`,
  isLight: false,
  variants: [
    variant("plain", {}),
    variant("Idempotency-Key", keyed),
    variant("proxy", behindProxy),
    variant("log at info", logged),
    variant("request limit", limited),
    variant("all of these", allTogether),
    variant("after 60,000", { warmUpTasks: longWarmUp }),
  ],
};

function variant(name: string, usage: Usage): Variant {
  return { name, subject: bellhop, measure: (bench) => measure(usage, bench) };
}

async function measure({ setting, headers, run, warmUpTasks }: Usage, bench: Bench): Promise<void> {
  const { count, warmUp: usual, warmUpRuns } = bench.options;
  await withBellhop({ ownDatabase: true, ...setting }, async (rig) => {
    Object.assign(rig.subject.headers, headers);
    await warmUp(rig, { warmUp: warmUpTasks ?? usual, warmUpRuns }, connections, run);
    const measured = await rig.runClosed(count, connections, run);
    bench.check("users", measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    recordCpu(bench, measured);
    recordPostgres(bench, measured);
  });
}
