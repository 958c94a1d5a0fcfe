import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PromiseName } from "../chaos/checker/violation.ts";
import { copyServer, PLANTS, type Plant } from "../chaos/rig/plants.ts";
import type { StatementPlant } from "./model/session.ts";
import { loadServer } from "./server.ts";
import type { Options } from "./simulate.ts";

const STATEMENT_PLANTS: readonly StatementPlant[] = [
  "no-fence",
  "all-slots",
  "attempt-not-recorded",
  "events-by-transaction",
  "line-not-held",
  "flow-line-not-held",
  "no-places",
  "no-permits",
  "rate-not-counted",
  "window-of-last",
  "key-not-locked",
  "called-task-replaced",
  "counts-overwritten",
  "hosts-not-held",
  "passes-not-counted",
  "pass-kept",
  "other-hosts-held",
];
/** Of those that are simulated alone. */
const OWN_PLANTS: Readonly<Record<string, Pick<Plant, "breaks" | "edits">>> = {
  "events-by-transaction": { breaks: ["events"], edits: [] },
  "kinds-take-turns": {
    breaks: ["order"],
    edits: [
      {
        file: "engine/flow-claim-request.js",
        find: "const plain = Math.min(free, waiting);",
        replace: "const plain = (queue.hasTurn = !queue.hasTurn) ? Math.min(free, waiting) : 0;",
      },
    ],
  },
  "line-not-held": { breaks: ["line"], edits: [] },
  "no-permits": { breaks: ["H"], edits: [] },
  "rate-not-counted": { breaks: ["H"], edits: [] },
  "window-kept-shut": {
    breaks: ["waiting"],
    edits: [
      {
        file: "engine/queue-claims.js",
        find: "Math.max(1, Math.ceil(waitMs))",
        replace: "Math.max(1, Math.ceil(waitMs)) + 3_000",
      },
    ],
  },
  "window-of-last": { breaks: ["dedupe"], edits: [] },
  "key-not-locked": { breaks: ["dedupe"], edits: [] },
  "called-task-replaced": { breaks: ["dedupe"], edits: [] },
  "counts-overwritten": { breaks: ["breaker"], edits: [] },
  "hosts-not-held": { breaks: ["breaker"], edits: [] },
  "passes-not-counted": { breaks: ["breaker"], edits: [] },
  "pass-kept": { breaks: ["rest", "waiting"], edits: [] },
  "other-hosts-held": { breaks: ["rest", "waiting"], edits: [] },
  "old-pass-closes": {
    breaks: ["breaker"],
    edits: [
      {
        file: "store/tasks/breaker-counts.js",
        find: "return at !== undefined && at >= row.until;",
        replace: "return at !== undefined;",
      },
    ],
  },
  "key-outlives-window": {
    breaks: ["dedupe"],
    edits: [
      {
        file: "domain/dedupe-verdict.js",
        find: "nowMs - createdMs < seconds * 1000",
        replace: "nowMs - createdMs < seconds * 1000 + 2_000",
      },
    ],
  },
  "longest-wait-ignored": {
    breaks: ["dedupe"],
    edits: [
      {
        file: "domain/dedupe.js",
        find: "Math.min(nowMs + windowSeconds * 1000, latestMs)",
        replace: "nowMs + windowSeconds * 1000",
      },
    ],
  },
};
type World = Pick<Options, "hasFlows" | "features" | "nodes" | "acts" | "isFollowed" | "weather">;
/** Where each of these is met within few seeds; the others are so in any world. */
const WORLDS: Readonly<Record<string, World>> = {
  "all-slots": { nodes: 3 },
  "call-before-commit": { acts: 60 },
  "events-by-transaction": { nodes: 3, isFollowed: true, weather: { latencyMs: 150 } },
  "flow-line-not-held": { hasFlows: true, acts: 120, weather: { latencyMs: 20 } },
  "kinds-take-turns": { features: ["ranks"] },
  "no-fence": { nodes: 3, weather: { nodeFaults: { "stall-past-lease": 1, "pause-past-lease": 1 } } },
  "no-permits": { hasFlows: true, acts: 60 },
  "no-places": { hasFlows: true },
  "rate-not-counted": { features: ["rates"] },
  "stale-start": {
    nodes: 3,
    acts: 60,
    weather: { rates: { "pause-with-answer": 0.3 }, nodeFaults: {}, purpose: "claim" },
  },
  "window-kept-shut": { features: ["rates"] },
  "window-of-last": { features: ["dedupe"] },
  "key-not-locked": { features: ["dedupe"], nodes: 3 },
  "called-task-replaced": { features: ["dedupe"] },
  "counts-overwritten": { features: ["breakers"] },
  "hosts-not-held": { features: ["breakers"] },
  "passes-not-counted": { features: ["breakers"] },
  "pass-kept": { features: ["breakers"] },
  "other-hosts-held": { features: ["breakers"] },
  "old-pass-closes": { features: ["breakers"], weather: { nodeFaults: {} } },
  "key-outlives-window": { features: ["dedupe"] },
  "longest-wait-ignored": { features: ["dedupe"] },
};
/** Longer than any run. */
const NO_DEADLINE_MS = 2_000_000;

/**
 * The plants of `chaos/` that can be simulated. Those of the engine's code are put into a copy of the build, as there. Those
 * of the statements and of the pool are put into what stands for them here. Not on disk though confirmed: nothing here is.
 */
export const SIMULATED_PLANTS: readonly string[] = [
  ...STATEMENT_PLANTS,
  "no-deadline",
  "call-before-commit",
  "stale-start",
  "turn-not-counted",
  "firings-left-out",
  "window-kept-shut",
  "old-pass-closes",
  "key-outlives-window",
  "longest-wait-ignored",
  "kinds-take-turns",
];

export interface PlantedServer {
  readonly breaks: readonly PromiseName[];
  readonly options: Omit<Options, "seed">;
  remove(): Promise<void>;
}

export async function plantBug(name: string, distDir: string): Promise<PlantedServer> {
  const plant = PLANTS[name] ?? OWN_PLANTS[name];
  if (plant === undefined || !SIMULATED_PLANTS.includes(name)) throw new Error(`There is no plant "${name}"`);
  const { breaks } = plant;
  const world = { features: [], roundTripMs: 0, ...WORLDS[name] };
  const statementPlant = STATEMENT_PLANTS.find((each) => each === name) ?? null;
  if (statementPlant !== null || name === "no-deadline") {
    const statementMs = name === "no-deadline" ? { statementMs: NO_DEADLINE_MS } : {};
    const options = { server: await loadServer(distDir), statementPlant, ...world, ...statementMs };
    return { breaks, options, remove: async () => {} };
  }
  const directory = await mkdtemp(join(tmpdir(), "bellhop-simulation-"));
  const main = await copyServer(distDir, directory, plant);
  return {
    breaks,
    options: { server: await loadServer(dirname(main)), ...world },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
