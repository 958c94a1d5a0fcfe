import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Plant } from "./plant.ts";
import { type Catch, STAGES, type Stage } from "./stages.ts";

/** What is known of one plant so far. */
export interface Result {
  /** Of the plant as it was tried: one that was changed since is tried again. */
  readonly hash: string;
  /** What it did not fail, in this order. */
  readonly survived: readonly Stage[];
  readonly caught: { readonly stage: Stage; readonly by: string } | null;
  /** The compiler refused it. */
  readonly isInvalid: boolean;
  readonly seconds: number;
}

/** Kept in a file, so that a run can be broken off and gone on with. */
export interface Results {
  of(plant: Plant): Result;
  keep(plant: Plant, result: Result): void;
}

export function openResults(file: string): Results {
  const all = new Map<string, Result>(
    existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, "utf8"))) : [],
  );
  return {
    of(plant) {
      const hash = hashOf(plant);
      const known = all.get(plant.name);
      return known?.hash === hash
        ? known
        : { hash, survived: [], caught: null, isInvalid: false, seconds: 0 };
    },
    keep(plant, result) {
      all.set(plant.name, result);
      writeFileSync(file, JSON.stringify(Object.fromEntries(all), null, 2));
    },
  };
}

function hashOf({ file, find, replace, tests }: Plant): string {
  return createHash("sha256")
    .update(JSON.stringify([file, find, replace, tests]))
    .digest("hex")
    .slice(0, 12);
}

export function isFinished({ caught, isInvalid, survived }: Result): boolean {
  return caught !== null || isInvalid || survived.at(-1) === STAGES.at(-1);
}

export function withStage(result: Result, stage: Stage, by: Catch, seconds: number): Result {
  return {
    ...result,
    seconds: result.seconds + seconds,
    ...(by === null ? { survived: [...result.survived, stage] } : { caught: { stage, by } }),
  };
}
