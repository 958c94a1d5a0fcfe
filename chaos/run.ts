import { readOrExit } from "../tools/options.ts";
import type { PromiseName } from "./checker/violation.ts";
import { keepEvidence, keepLogs, readEvidence } from "./evidence.ts";
import { runFailover } from "./failover.ts";
import { runFairness } from "./fairness.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { runOutside } from "./outside/run-outside.ts";
import { judgeHistory, summary, type Verdict } from "./report.ts";
import { PLANTS } from "./rig/plants.ts";
import { runOnce } from "./rig/run-once.ts";
import { NoUpgradePath, runUpgradeFrom } from "./rolling-upgrade-scene.ts";
import { playScenes } from "./size/scenes.ts";

/** A bug must be found within a minute and a half: so long it storms, so long calm is waited for. */
const PROOF_SECONDS = { storm: 45, calm: 25 } as const;
const CALM_SECONDS = 90;

async function run(options: Options, plantName: string | null): Promise<Verdict> {
  const plant = plantName === null ? null : (PLANTS[plantName] ?? null);
  const keep = options.keep === null || !options.prove ? options.keep : `${options.keep}/${plantName}`;
  const shared = {
    distDir: options.dist,
    seconds: plant === null ? options.seconds : PROOF_SECONDS.storm,
    nodes: options.nodes,
    seed: options.seed,
    rate: options.rate,
    plant,
    latencyMs: options.latency ?? (options.calm || plant !== null ? 0 : null),
    weather: options.calm ? { processes: {}, database: {} } : null,
    say: (line: string) => console.log(line),
    keepLogs: async (logDir: string) => {
      if (keep !== null) await keepLogs(keep, logDir);
    },
  };
  const calmSeconds = plant === null ? CALM_SECONDS : PROOF_SECONDS.calm;
  const history = options.outside ? await runOutside(shared) : await runOnce({ ...shared, calmSeconds });
  const verdict = judgeHistory(history);
  if (keep !== null) await keepEvidence(keep, history, verdict.text);
  return verdict;
}

/** Returns whether every plant was found. */
async function prove(options: Options): Promise<boolean> {
  const lines: string[] = [];
  let isProven = true;
  for (const [name, { what, breaks }] of Object.entries(PLANTS)) {
    console.log(`\nplant ${name}: ${what}`);
    const [isFound, line] = await tryPlant(options, name, breaks);
    isProven &&= isFound;
    lines.push(line);
    console.log(lines.at(-1));
  }
  console.log(`\n${lines.join("\n")}`);
  return isProven;
}

async function tryPlant(
  options: Options,
  name: string,
  breaks: readonly PromiseName[],
): Promise<[isFound: boolean, line: string]> {
  try {
    const { violations } = await run(options, name);
    const isFound = violations.some(({ promise }) => breaks.includes(promise));
    const counts = violations.length > 0 ? summary(violations) : "0 violations";
    return [isFound, `${isFound ? "found    " : "NOT FOUND"} ${name}: ${counts}`];
  } catch (error) {
    return [false, `NOT TRIED ${name}: ${error instanceof Error ? error.message : error}`];
  }
}

async function failover({ dist, nodes, seconds }: Options): Promise<boolean> {
  const say = (line: string) => console.log(line);
  let isGood = true;
  for (const how of ["kill", "freeze"] as const) {
    const { violations, lines } = await runFailover({
      how,
      distDir: dist,
      nodes,
      seconds: seconds / 4,
      comesBack: true,
      say,
    });
    isGood = tellVerdict(lines, violations) && isGood;
  }
  return isGood;
}

function fairness({ dist, seconds }: Options): Promise<boolean> {
  return runFairness({ distDir: dist, tasks: 100_000, seconds, say: (line) => console.log(line) });
}

async function upgrade(ref: string, { dist, seconds }: Options): Promise<boolean> {
  const say = (line: string) => console.log(line);
  const { violations, lines } = await runUpgradeFrom({ ref, distDir: dist, seconds: seconds / 6, say });
  return tellVerdict(lines, violations);
}

/** Returns whether it is a good one. */
function tellVerdict(lines: readonly string[], violations: readonly string[]): boolean {
  const verdict = violations.length === 0 ? ["0 violations"] : ["VIOLATED", ...violations];
  console.log(`\n${[...lines, ...verdict].join("\n")}\n`);
  return violations.length === 0;
}

type Outcome = Verdict["outcome"];
/** What a script reads: a run that could not be judged is neither good nor bad. */
const EXIT_CODES: Readonly<Record<Outcome, number>> = { good: 0, violated: 1, unjudged: 3 };

async function main(options: Options): Promise<Outcome> {
  if (options.size !== null)
    return (await playScenes(options.size, options.dist, (line) => console.log(line))) ? "good" : "violated";
  if (options.upgradeFrom !== null)
    return (await upgrade(options.upgradeFrom, options)) ? "good" : "violated";
  const scene = options.failover ? failover : options.fairness ? fairness : options.prove ? prove : null;
  if (scene !== null) return (await scene(options)) ? "good" : "violated";
  const verdict =
    options.check === null
      ? await run(options, options.plant)
      : judgeHistory(await readEvidence(options.check));
  console.log(`\n${verdict.text}`);
  return verdict.outcome;
}

const options = readOrExit(usage, parseOptions);
try {
  const outcome = await main(options);
  if (outcome !== "good" && options.check === null) console.log(`seed ${options.seed}`);
  process.exit(EXIT_CODES[outcome]);
} catch (error) {
  console.error(error instanceof NoUpgradePath ? error.message : error);
  process.exit(1);
}
