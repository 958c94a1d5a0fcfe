import type { SceneResult } from "./rig/run-scene.ts";
import { FAIRNESS, GOALS, type Goal, type Scene } from "./scene.ts";

export interface Verdict {
  readonly misses: readonly string[];
  readonly text: string;
}

/** The figures of one attack against the goals. */
export function judge(name: string, scene: Scene, { calm, attacked, misses }: SceneResult): Verdict {
  const memory = attacked.peakMb / calm.peakMb;
  const goals = { ...(scene.isFairness ? FAIRNESS : GOALS), ...scene.goals };
  const victimMs = scene.isFairness ? attacked.victimP99Ms : attacked.worstVictimMs;
  const found: string[] = [...misses];
  const miss = (goal: Goal, isMet: boolean, text: string) => {
    if (!isMet && scene.excused?.[goal] === undefined) found.push(text);
  };
  // A machine that holds a bystander up holds the server up as well, which is none of its faults.
  const livezMs = attacked.worstLivezMs - attacked.machineMs;
  miss("livezMs", livezMs <= goals.livezMs, `/livez took ${ms(attacked.worstLivezMs)}`);
  // NaN where there is no /proc: then memory is not judged.
  miss("memory", !(memory > goals.memory), `memory grew to ${memory.toFixed(2)} times`);
  if (victimMs === null) found.push("the victim was never due: the scene shows nothing");
  else
    miss("victimMs", victimMs - attacked.machineMs <= goals.victimMs, `the victim was ${ms(victimMs)} late`);
  if (attacked.refusals > 0) found.push(`${attacked.refusals} of the victim's tasks were refused`);
  const { victim = "task" } = scene;
  const lines = [
    `${found.length === 0 ? "held  " : "MISSED"} ${name}: ${scene.what}`,
    `         /livez ${ms(attacked.worstLivezMs)} (calm ${ms(calm.worstLivezMs)}), ${victim} late ` +
      `${ms(victimMs)} (calm ${ms(scene.isFairness ? calm.victimP99Ms : calm.worstVictimMs)}) of ${attacked.victims}, memory ${calm.peakMb.toFixed(0)} → ` +
      `${attacked.peakMb.toFixed(0)} MB = ${memory.toFixed(2)} x, machine held up ${ms(attacked.machineMs)}`,
    ...found.map((text) => `         missed: ${text}`),
  ];
  return { misses: found, text: lines.join("\n") };
}

function ms(value: number | null): string {
  return value === null ? "never" : `${Math.round(value)} ms`;
}
