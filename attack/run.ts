import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stopAllProcesses } from "../tools/child-process.ts";
import { judge } from "./report.ts";
import { hasOwnNetwork, runInOwnNetwork } from "./rig/namespace.ts";
import { runScene } from "./rig/run-scene.ts";
import { GOALS, type Scene } from "./scene.ts";

const usage = `npm run attack -- [scene ...]     every scene, or those named: ${sceneNames().join(", ")}`;

function sceneNames(): string[] {
  const files = readdirSync(fileURLToPath(new URL("scenes", import.meta.url)));
  return files
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -3))
    .sort();
}

async function loadScene(name: string): Promise<Scene> {
  const { scene } = (await import(new URL(`scenes/${name}.ts`, import.meta.url).href)) as { scene: Scene };
  return scene;
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
const unknown = args.filter((name) => !sceneNames().includes(name));
if (unknown.length > 0) {
  console.error(`${args.includes("--help") ? "" : `There is no scene ${unknown.join(", ")}\n`}${usage}`);
  process.exit(2);
}
// Everything, not only what needs it: then no packet can leave whatever a scene does.
const elsewhere = runInOwnNetwork(args);
process.exit(elsewhere ?? ((await runScenes(args.length > 0 ? args : sceneNames())) > 0 ? 1 : 0));
