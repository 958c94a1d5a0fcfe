import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stopAllProcesses } from "../tools/child-process.ts";
import { ACTOR_LOADS } from "./fairness/actor-loads.ts";
import { ROUTES } from "./fairness/route-loads.ts";
import { runRouteLoads } from "./fairness/run-routes.ts";
import { judge } from "./report.ts";
import { hasOwnNetwork, runInOwnNetwork } from "./rig/namespace.ts";
import { runScene } from "./rig/run-scene.ts";
import { FAIRNESS, GOALS, type Scene } from "./scene.ts";

const usage = `npm run attack -- [scene ...]     every scene, or those named: ${sceneNames().join(", ")}
npm run attack -- routes          every route that declares a cost; or one, such as "GET /v1/tasks"`;

function sceneNames(): string[] {
  const files = readdirSync(fileURLToPath(new URL("scenes", import.meta.url)));
  return files
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -3))
    .concat(Object.keys(ACTOR_LOADS))
    .sort();
}

async function loadScene(name: string): Promise<Scene> {
  const load = ACTOR_LOADS[name];
  if (load !== undefined) return load;
  const { scene } = (await import(new URL(`scenes/${name}.ts`, import.meta.url).href)) as { scene: Scene };
  return scene;
}

/** Every route that declares a cost, or those named, on one server. Returns how many were missed. */
async function runRoutes(routes: readonly string[]): Promise<number> {
  let missed = 0;
  console.log(`routes: start p99 ${FAIRNESS.victimMs} ms, /livez ${FAIRNESS.livezMs} ms\n`);
  for await (const { misses, text } of runRouteLoads(routes)) {
    console.log(text);
    if (misses.length > 0) missed += 1;
  }
  console.log(`\n${routes.length - missed} of ${routes.length} routes held`);
  return missed;
}

/** Returns how many scenes were missed. */
async function runScenes(names: readonly string[]): Promise<number> {
  let missed = 0;
  const skipped: string[] = [];
  console.log(
    `goals: /livez ${GOALS.livezMs} ms, victim ${GOALS.victimMs} ms late, memory ${GOALS.memory} x\n`,
  );
  for (const name of names) {
    const scene = await loadScene(name);
    if (scene.ownNetwork && !hasOwnNetwork) {
      skipped.push(name);
      console.log(`SKIPPED ${name}: it touches addresses, and this user may not make a network namespace`);
      continue;
    }
    try {
      const { misses, text } = judge(name, scene, await runScene(scene));
      console.log(text);
      if (misses.length > 0) missed += 1;
    } catch (error) {
      missed += 1;
      console.log(`MISSED ${name}: could not be played\n${error instanceof Error ? error.stack : error}`);
      await stopAllProcesses();
    }
  }
  const played = names.length - skipped.length;
  console.log(`\n${played - missed} of ${played} attacks held, ${skipped.length} skipped`);
  return missed;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const args = process.argv.slice(2);
const routes = args.includes("routes") ? ROUTES : args.filter((name) => ROUTES.includes(name));
const scenes = args.filter((name) => name !== "routes" && !ROUTES.includes(name));
const unknown = scenes.filter((name) => !sceneNames().includes(name));
if (unknown.length > 0) {
  console.error(`${args.includes("--help") ? "" : `There is no scene ${unknown.join(", ")}\n`}${usage}`);
  process.exit(2);
}
// Everything, not only what needs it: then no packet can leave whatever a scene does.
const elsewhere = runInOwnNetwork(args);
if (elsewhere !== null) process.exit(elsewhere);
const names = args.length === 0 ? sceneNames() : scenes;
let missedInAll = names.length > 0 ? await runScenes(names) : 0;
if (routes.length > 0) missedInAll += await runRoutes(routes);
process.exit(missedInAll > 0 ? 1 : 0);
