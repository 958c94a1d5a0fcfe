import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readOptions, readOrExit } from "../tools/options.ts";
import type { Plant } from "./plant.ts";
import { PLANTS } from "./plants.ts";
import { describeResults, putInto } from "./report.ts";
import { isFinished, openResults, type Results, withStage } from "./results.ts";
import { type Effort, isTried, runTests, STAGES, type Stage, tryStage } from "./stages.ts";
import { startTests } from "./test-server.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "docs/guarantees.md");

const usage = `npm run prove -- [options]

  Plants one bug after the other in a copy of the checkout, and runs tests, simulation and chaos until one of them fails.

  --only a,b      these plants alone
  --from n        begins with the n-th plant
  --stages a,b    these alone: ${STAGES.join(", ")}
  --seeds n       of the simulation (default 300)
  --chaos n       seconds of chaos (default 30)
  --minutes n     begins no stage after so long; the next run goes on (default: no end)
  --again         tries what has a result again
  --results file  where results are kept (default .build/prove.json)
  --baseline      instead: runs the tests of all plants without a bug, which must pass
  --report        instead: prints the table of what is known
  --write         writes the table into docs/guarantees.md
`;

interface Arguments {
  readonly plants: readonly Plant[];
  readonly stages: readonly Stage[];
  readonly effort: Effort;
  readonly endMs: number;
  readonly again: boolean;
  readonly results: string;
  readonly baseline: boolean;
  readonly report: boolean;
  readonly write: boolean;
}

/** Throws an error that names the wrong option. */
function readArguments(args: string[]): Arguments {
  const given = readOptions(args, {
    only: "text",
    from: "text",
    stages: "text",
    seeds: "text",
    chaos: "text",
    minutes: "text",
    results: "text",
    again: "flag",
    baseline: "flag",
    report: "flag",
    write: "flag",
  });
  const number = (name: "from" | "seeds" | "chaos" | "minutes", initial: number) =>
    given.number(name, { initial, max: 1e9 });
  const only = given.names(
    "only",
    PLANTS.map(({ name }) => name),
  );
  const stages = given.names("stages", STAGES);
  return {
    plants: PLANTS.slice(number("from", 1) - 1).filter(({ name }) => only?.includes(name) ?? true),
    stages: STAGES.filter((stage) => stages?.includes(stage) ?? true),
    effort: { seeds: number("seeds", 300), chaosSeconds: number("chaos", 30) },
    endMs: performance.now() + number("minutes", 1e9) * 60_000,
    again: given.flag("again"),
    results: given.text("results") ?? join(ROOT, ".build/prove.json"),
    baseline: given.flag("baseline"),
    report: given.flag("report"),
    write: given.flag("write"),
  };
}

/** Returns false where the time was up. */
async function tryPlant(
  plant: Plant,
  workspace: Workspace,
  results: Results,
  args: Arguments,
): Promise<boolean> {
  const isOpen = (stage: Stage) => isTried(stage, plant) && !results.of(plant).survived.includes(stage);
  const stages = args.stages.filter(isOpen);
  if (stages.length === 0) return true;
  const beganMs = performance.now();
  const refusal = await workspace.plant(plant);
  if (refusal !== null) {
    results.keep(plant, { ...results.of(plant), isInvalid: true });
    console.log(`invalid    ${plant.name}: does not compile\n${refusal}`);
    return true;
  }
  console.log(`           ${plant.name}: compiled in ${seconds(beganMs).toFixed(0)} s`);
  for (const stage of stages) {
    if (performance.now() > args.endMs) return false;
    const stageMs = performance.now();
    const by = await tryStage(stage, workspace.directory, plant, args.effort);
    results.keep(plant, withStage(results.of(plant), stage, by, seconds(stageMs)));
    console.log(
      `${by === null ? "survived  " : "caught by "} ${plant.name}: ${stage}${by === null ? "" : `, ${by}`}`,
    );
    if (by !== null) return true;
  }
  return true;
}

function seconds(sinceMs: number): number {
  return (performance.now() - sinceMs) / 1000;
}

/** Whether the tests of these plants pass without any. */
async function runBaseline(workspace: Workspace, { plants }: Arguments): Promise<boolean> {
  const tests = [...new Set(plants.flatMap((plant) => plant.tests))].sort();
  const refusal = await workspace.plant(null);
  const failing = refusal === null ? await failingOf(workspace, tests) : [refusal];
  console.log(
    failing.length === 0
      ? `${tests.length} test files pass without a plant`
      : `FAILED without a plant:\n${failing.join("\n")}`,
  );
  return failing.length === 0;
}

async function failingOf({ directory }: Workspace, tests: readonly string[]): Promise<string[]> {
  const failing: string[] = [];
  for (const test of tests) {
    const failed = await runTests(directory, [test]);
    if (failed !== null) failing.push(`${test}: ${failed}`);
  }
  return failing;
}

async function main(args: Arguments): Promise<boolean> {
  const results = openResults(args.results);
  const open = args.plants.filter((plant) => args.again || !isFinished(results.of(plant)));
  if (args.again)
    for (const plant of open)
      results.keep(plant, { ...results.of(plant), survived: [], caught: null, isInvalid: false, seconds: 0 });
  if (args.baseline || (!args.report && open.length > 0)) {
    const server = await startTests();
    const workspace = await makeWorkspace();
    try {
      if (args.baseline) return await runBaseline(workspace, args);
      for (const plant of open) if (!(await tryPlant(plant, workspace, results, args))) break;
    } finally {
      await workspace.remove();
      await server.stop();
    }
  }
  const table = describeResults(PLANTS, results);
  console.log(`\n${table}`);
  if (args.write) writeFileSync(PAGE, putInto(readFileSync(PAGE, "utf8"), table));
  return args.plants.every((plant) => results.of(plant).caught !== null);
}

process.exitCode = (await main(readOrExit(usage, readArguments))) ? 0 : 1;
