import { backlog, herd } from "./backlog.ts";
import { backup } from "./backup.ts";
import { diskFull, outOfFiles, walFull } from "./exhausted.ts";
import { readOnly } from "./read-only.ts";
import type { Scene } from "./scene.ts";
import { dueSchedules } from "./schedules.ts";

/** Each with a server of its own, as it ships. */
export const SCENES: Readonly<Record<string, Scene>> = {
  backlog: backlog(1_000_000),
  herd: herd(500_000, 60),
  schedules: dueSchedules(20_000),
  "disk-full": diskFull,
  "wal-full": walFull,
  "read-only": readOnly,
  files: outOfFiles,
  backup,
};

/** Plays one of them, or all. Returns whether nothing went wrong. */
export async function playScenes(
  which: string,
  distDir: string,
  say: (line: string) => void,
): Promise<boolean> {
  let isGood = true;
  for (const [name, scene] of Object.entries(SCENES)) {
    if (which !== "all" && which !== name) continue;
    say(`\n${name}`);
    const { lines, violations, skipped } = await scene({ distDir, say });
    for (const line of lines) say(`  ${line}`);
    const verdict =
      violations.length === 0 ? ["0 violations"] : violations.map((text) => `VIOLATED: ${text}`);
    for (const line of skipped === null ? verdict : [`not played: ${skipped}`]) say(`  ${line}`);
    isGood &&= violations.length === 0;
  }
  return isGood;
}
