import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repositoryRoot, stopAllProcesses } from "../tools/child-process.ts";
import { readOrExit } from "../tools/options.ts";
import { createFigures } from "./figures.ts";
import { judge } from "./goals.ts";
import { describeMachine } from "./machine.ts";
import { parseOptions, usage } from "./options.ts";
import { writePlots } from "./plot.ts";
import { formatMachine, formatOptions, formatScenario, formatVerdicts } from "./report.ts";
import type { Options } from "./run-options.ts";
import { runScenario } from "./run-scenario.ts";
import { scenarios } from "./scenarios/catalog.ts";
import { median } from "./statistics.ts";
import { subjects } from "./subjects/catalog.ts";
import { writeDocs } from "./write-docs.ts";

/** Returns the problems: what was lost or refused, and with --check the goals that were missed. */
async function runBench(options: Options): Promise<string[]> {
  const startedAt = Date.now();
  const machine = describeMachine();
  console.log(`${formatMachine(machine)}\n${formatOptions(options)}\n`);
  const figures = createFigures();
  const problems: string[] = [];
  const chosen = scenarios.filter(({ name, isLight, isOnDemand }) => {
    if (options.scenarios.length > 0) return options.scenarios.includes(name);
    return isOnDemand !== true && (isLight || !options.quick);
  });
  const wanted = subjects.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
  const needed = wanted.filter((subject) =>
    chosen.some(({ variants }) => variants.some((variant) => variant.subject === subject)),
  );
  const present = needed.filter((subject) => {
    const missing = subject.findMissing?.();
    if (missing !== undefined) console.log(missing);
    return missing === undefined;
  });

  for (const scenario of chosen) {
    const variants = scenario.variants.filter(({ subject }) => present.includes(subject));
    if (variants.length === 0) continue;
    problems.push(...(await runScenario({ ...scenario, variants }, options, figures)));
    console.log(`\n${formatScenario(scenario, figures.all())}\n`);
  }

  const verdicts = judge(figures);
  console.log(formatVerdicts(verdicts));
  const minutes = (Date.now() - startedAt) / 60_000;
  console.log(`\n${minutes.toFixed(1)} minutes`);
  save(options, {
    machine,
    options,
    minutes,
    figures: figures.all().map((figure) => ({
      ...figure,
      median: median(figure.values),
      min: Math.min(...figure.values),
      max: Math.max(...figure.values),
    })),
    verdicts,
    problems,
  });
  if (options.plot) {
    const files = writePlots(figures.all(), join(repositoryRoot, "docs", "images"));
    for (const file of files) console.log(file);
  }
  if (options.check) {
    problems.push(
      ...verdicts
        .filter(({ isMet }) => isMet === false)
        .map(({ goal, target }) => `missed: ${goal} ${target}`),
    );
  }
  return problems;
}

function writePage(files: readonly string[]): string[] {
  writeDocs(join(repositoryRoot, "docs", "performance.md"), files);
  return [];
}

function save(options: Options, results: unknown): void {
  const name = `${new Date().toISOString().replaceAll(":", "-")}.json`;
  const file = options.json || join(repositoryRoot, "bench", "results", name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  console.log(file);
}

// Not once: a signal to the group comes again by way of npm, and must not end the bench before it has tidied up.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => void stopAllProcesses().then(() => process.exit(130)));
}

const options = readOrExit(usage, parseOptions);
try {
  const problems = options.docs.length > 0 ? writePage(options.docs) : await runBench(options);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await stopAllProcesses();
}
