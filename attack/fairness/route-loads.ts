import { setTimeout as sleep } from "node:timers/promises";
import { COST_ROWS } from "../../packages/server/test/api/cost-rows.ts";
import { ACCESS_ROWS, type AccessRow } from "../../packages/server/test/server/access-rows.ts";
import { openWorld, type World } from "../../packages/server/test/server/access-world.ts";
import type { Gauge } from "../rig/gauge-process.ts";
import type { Readings } from "../rig/readings.ts";
import type { Stage } from "../scene.ts";
import { FAIRNESS } from "../scene.ts";
import { freeLimits } from "./load.ts";
import { fillTeam, type Worst, worstOf } from "./worst-requests.ts";

/** Of one team, which begins the next when one is answered. */
const AT_ONCE = 8;
const LOAD_MS = 3_000;
const SETTLE_MS = 1_200;
/** Objects of each kind that a load may create. */
const ROOM = 20;

/** What ends a load of creations, and says nothing about its cost. */
const LIFTED = ["tasksOpen", "bytesStored"];

export const ROUTE_SETTINGS = {
  BELLHOP_TRUST_PROXY: "127.0.0.1",
  BELLHOP_EGRESS: "any",
  BELLHOP_SIGN_UP: "open",
};

/** One for each route that declares a cost and can be asked by its access row: the pages of the reference are a library's files. */
export const ROUTES = Object.keys(ACCESS_ROWS).filter((route) => route in COST_ROWS);

export interface RouteResult {
  readonly route: string;
  readonly misses: readonly string[];
  readonly text: string;
}

/** Each route in turn on one server: a team asks it eight times at once, while another team's tasks are watched. */
export async function* playRoutes(
  stage: Stage,
  gauge: Gauge,
  routes: readonly string[],
): AsyncGenerator<RouteResult> {
  const world = await openWorld({ url: stage.url }, { rows: stage.rows });
  await fillTeam(stage, world);
  const made = await makeOne(world, routes);
  const worsts = new Map<string, readonly Worst[]>();
  for (const route of routes) worsts.set(route, [await worstOf(route, stage, world)].flat());
  await giveRoom(stage);
  await gauge.reset();
  await sleep(LOAD_MS);
  const calm = await gauge.reset();
  yield {
    route: "",
    misses: [],
    text: `calm: start p99 ${ms(calm.victimP99Ms)}, /livez ${ms(calm.worstLivezMs)}, machine ${ms(calm.machineMs)}`,
  };
  for (const route of routes) {
    await giveRoom(stage);
    await sleep(SETTLE_MS);
    await gauge.reset();
    const statuses = await load(world, route, made.get(route), worsts.get(route) ?? []);
    await sleep(SETTLE_MS);
    yield judgeRoute(route, ACCESS_ROWS[route], await gauge.reset(), statuses);
  }
  await world.close();
}

/** Sets the limits of the free plan, raised by the objects that earlier loads created, so that each load can create some. */
async function giveRoom(stage: Stage): Promise<void> {
  await stage.rows(
    `update teams t set limits = $1::jsonb || jsonb_build_object(
       'queues', $2 + (select count(*) from queues where team_id = t.id),
       'urlGroups', $2 + (select count(*) from url_groups where team_id = t.id),
       'flows', $2 + (select count(*) from flows where team_id = t.id),
       'vaultTokens', $2 + (select count(*) from vault_tokens where team_id = t.id),
       'applications', $2 + (select count(*) from oauth_applications where team_id = t.id),
       'schedules', $2 + (select count(*) from schedules where team_id = t.id),
       'webhooks', $2 + (select count(*) from webhooks where team_id = t.id))
      where name = 'Ours'`,
    [freeLimits(LIFTED), ROOM],
  );
}

/** An object for each route, for when the team can make no more: some counts have limits that nobody can lift. */
async function makeOne(world: World, routes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const made = new Map<string, string>();
  for (const route of routes) {
    const id = await ACCESS_ROWS[route]?.make?.(world, world.ours);
    if (id !== undefined) made.set(route, id);
  }
  return made;
}

async function load(
  world: World,
  route: string,
  made: string | undefined,
  worsts: readonly Worst[],
): Promise<ReadonlyMap<number, number>> {
  const row = ACCESS_ROWS[route];
  const [method = "", pattern = ""] = route.split(" ");
  const statuses = new Map<number, number>();
  const untilMs = performance.now() + LOAD_MS;
  const team = world.ours;
  const credential =
    row?.scope === "public"
      ? null
      : row?.scope === "session"
        ? team.owner
        : row?.test === true
          ? team.testKey
          : team.liveKey;
  let asked = 0;
  const strict: World = {
    ...world,
    async call(...asking) {
      const answer = await world.call(...asking);
      if (answer.status >= 400) throw new Error(`${asking[1]} ${asking[2]}: ${answer.status}`);
      return answer;
    },
  };
  const ask = async () => {
    while (performance.now() < untilMs) {
      const worst = worsts[asked % worsts.length] ?? {};
      asked += 1;
      const id = worst.named ?? (await row?.make?.(strict, team).catch(() => made)) ?? "";
      const ids = id.split(" ");
      const path = worst.path ?? row?.path ?? pattern.replace(/:\w+/g, () => ids.shift() ?? "");
      const own = row?.endsSession === true ? await team.newViewer() : credential;
      const body = worst.body ?? row?.bodyOf?.(id) ?? row?.body;
      const headers = { ...row?.headers, ...worst.headers };
      const { status } = await world.call(
        own,
        method,
        path + (worst.query ?? row?.query ?? ""),
        body,
        headers,
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return statuses;
}

function judgeRoute(
  route: string,
  row: AccessRow | undefined,
  readings: Readings,
  statuses: ReadonlyMap<number, number>,
): RouteResult {
  const { victimP99Ms, worstLivezMs, machineMs, refusals } = readings;
  const misses: string[] = [];
  if (victimP99Ms === null) misses.push("the victim was never due");
  else if (victimP99Ms - machineMs > FAIRNESS.victimMs) misses.push(`start p99 ${ms(victimP99Ms)}`);
  if (worstLivezMs - machineMs > FAIRNESS.livezMs) misses.push(`/livez ${ms(worstLivezMs)}`);
  if (refusals > 0) misses.push(`${refusals} of the victim's tasks were refused`);
  // A refusal costs little: a load of nothing else would show nothing.
  const answered = [...statuses].filter(([status]) => status === row?.status || status < 300);
  if (answered.length === 0) misses.push("no request was answered as declared: the load shows nothing");
  const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  const figures =
    `start p99 ${ms(victimP99Ms)}, /livez ${ms(worstLivezMs)}, machine ${ms(machineMs)}, ` +
    `${readings.peakMb.toFixed(0)} MB, ${told}`;
  const text = [
    `${misses.length === 0 ? "held  " : "MISSED"} ${route} (${COST_ROWS[route]?.[0]}): ${figures}`,
    ...misses.map((miss) => `         missed: ${miss}`),
  ].join("\n");
  return { route, misses, text };
}

function ms(value: number | null): string {
  return value === null ? "never" : `${Math.round(value)} ms`;
}
