import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomSeed, readOptions, readOrExit } from "../../tools/options.ts";
import { startTests } from "../test-server.ts";
import { completeBuild } from "../workspace.ts";
import { makeBuild } from "./build.ts";
import { FOLDERS, mutantsOf, readSources } from "./catalogue.ts";
import { type CoverageStore, openCoverage } from "./collect.ts";
import { type Coverage, hashOf, readCoverage, type TestCoverage } from "./coverage.ts";
import { EQUIVALENT } from "./equivalent.ts";
import { describeChange, lineOf, type Mutant, mutate } from "./mutant.ts";
import { type Outcome, openOutcomes } from "./outcomes.ts";
import { drawSample } from "./sample.ts";
import { dropTestDatabases, startStatementCheck } from "./statement-check.ts";
import { describeScores, type Judged, scoreOf } from "./summary.ts";
import { type Effort, requireWhole, type Tools, tryMutant } from "./trial.ts";
import { openTypes, rememberTypes } from "./types.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HOME = join(ROOT, "packages/server/src");

const usage = `npm run prove -- --sample n [options]

  Draws n of the small changes that it can make to the server by itself, builds each in a copy of the checkout, and runs the tests
  that run what was changed, the cheapest first, until one fails.

  --seed n        the same seed draws the same sample (default: a new one, which is printed)
  --folders a,b   below packages/server/src (default ${FOLDERS.join(",")}); also files, like engine/lease.ts
  --only text     mutants whose names contain it
  --list          instead: prints the sample, and how many there are by operator
  --coverage      instead: finds out what each test file runs, where that is not known. A sample does so too, before it begins
  --tests a,b     only test files whose names contain one of these
  --limit n       seconds for the tests of one mutant (default 180)
  --whole         then all tests, where those passed
  --seeds n       then so many seeds of the simulation
  --minutes n     begins no mutant after so long; the next run goes on (default: no end)
  --again         tries what was not caught again
  --least n       the score in percent below which the run fails (default 85)
`;

interface Arguments {
  readonly size: number;
  readonly seed: number;
  readonly folders: readonly string[];
  readonly only: string;
  readonly tests: readonly string[];
  readonly effort: Effort;
  readonly endMs: number;
  readonly least: number;
  readonly isList: boolean;
  readonly isCoverage: boolean;
  readonly isAgain: boolean;
}

/** Throws an error that names the wrong option. */
function readArguments(args: string[]): Arguments {
  const given = readOptions(args, {
    sample: "text",
    seed: "text",
    folders: "text",
    only: "text",
    tests: "text",
    limit: "text",
    seeds: "text",
    minutes: "text",
    least: "text",
    list: "flag",
    coverage: "flag",
    whole: "flag",
    again: "flag",
  });
  const whole = (name: "sample" | "seed" | "seeds", initial: number) =>
    given.text(name) === null ? initial : given.number(name, { initial, max: 1e9, isWhole: true });
  return {
    size: whole("sample", 100),
    seed: whole("seed", randomSeed()),
    folders: given.text("folders")?.split(",") ?? FOLDERS,
    only: given.text("only") ?? "",
    tests: given.text("tests")?.split(",") ?? [],
    effort: {
      seconds: given.number("limit", { initial: 180, max: 1e6 }),
      isWhole: given.flag("whole"),
      seeds: whole("seeds", 0),
    },
    endMs: performance.now() + given.number("minutes", { initial: 1e9, max: 1e9 }) * 60_000,
    least: given.number("least", { initial: 85, max: 100 }),
    isList: given.flag("list"),
    isCoverage: given.flag("coverage"),
    isAgain: given.flag("again"),
  };
}

const args = readOrExit(usage, readArguments);
const sources = readSources(HOME, args.folders);
if (sources.length === 0) throw new Error(`No source file in ${args.folders.join(", ")}`);
const sourceOf = new Map(sources.map(({ file, source }) => [file, source]));
const textOf = (file: string) => sourceOf.get(file) ?? "";
const all = sources.flatMap(mutantsOf).filter(({ name }) => name.includes(args.only));
const sample = drawValid();

/** What the compiler refuses never reaches a test. */
function drawValid(): readonly Mutant[] {
  const types = rememberTypes(join(ROOT, ".build/mutants/types.json"), () =>
    openTypes(join(ROOT, "packages/server/tsconfig.json")),
  );
  const isRefused = (mutant: Mutant) =>
    mutant.sql === null &&
    types.refusal(join(HOME, mutant.file), mutate(textOf(mutant.file), mutant)) !== null;
  const drawn = drawSample(all, { size: args.size, seed: args.seed, isRefused });
  types.close();
  return drawn;
}

function describe(mutant: Mutant): string {
  const source = textOf(mutant.file);
  return `${mutant.name} (line ${lineOf(source, mutant.start)}): ${describeChange(source, mutant)}`;
}

function printList(): void {
  for (const mutant of sample) console.log(describe(mutant));
  const kinds = all.map(({ sql, operator }) => `${sql === null ? "ts " : "sql"} ${operator}`);
  console.log(`\n${all.length} mutants; seed ${args.seed}`);
  for (const kind of [...new Set(kinds)].sort())
    console.log(`${String(kinds.filter((each) => each === kind).length).padStart(6)}  ${kind}`);
}

function coverageOf(known: readonly TestCoverage[], store: CoverageStore): Coverage {
  return readCoverage({
    tests: known,
    texts: store.texts(),
    sourceOf: textOf,
    compiledOf(file) {
      const path = join(ROOT, ".build/packages/server/src", file.replace(/ts$/, "js"));
      return {
        text: readFileSync(path, "utf8"),
        mappings: JSON.parse(readFileSync(`${path}.map`, "utf8")).mappings,
      };
    },
  });
}

/** Judged by hand. Throws where the code is no longer what was judged. */
function equivalence(mutant: Mutant): Outcome | null {
  const judged = EQUIVALENT.find(({ name }) => name === mutant.name);
  if (judged === undefined) return null;
  const source = textOf(mutant.file);
  const line = source.split("\n")[lineOf(source, mutant.start) - 1] ?? "";
  if (!line.includes(judged.line)) throw new Error(`Judge this mutant again: ${describe(mutant)}`);
  return { kind: "equivalent", by: judged.reason, seconds: 0 };
}

async function runSample(store: CoverageStore): Promise<readonly Judged[]> {
  const outcomes = openOutcomes(join(ROOT, ".build/mutants/outcomes.json"));
  const coverage = coverageOf(store.known(), store);
  let tools: Tools | null = null;
  const judged: Judged[] = [];
  const effort = JSON.stringify(args.effort);
  for (const [index, mutant] of sample.entries()) {
    const source = textOf(mutant.file);
    const tests = coverage.testsOf(mutant);
    const change = hashOf(describe(mutant).replace(/\(line \d+\)/, "") + mutant.replacement);
    const checks = hashOf(
      effort + JSON.stringify(tests.map(({ test, loaded }) => [test, Object.entries(loaded)])),
    );
    const known = equivalence(mutant) ?? outcomes.find(mutant.name, change, checks);
    if (known !== null && (!args.isAgain || known.kind === "caught" || known.kind === "equivalent")) {
      judged.push({ mutant, outcome: known });
      continue;
    }
    if (performance.now() > args.endMs) break;
    tools ??= await openTools();
    const outcome = await tryMutant(mutant, mutate(source, mutant), tests, args.effort, tools);
    await dropTestDatabases();
    outcomes.keep(mutant.name, change, checks, outcome);
    judged.push({ mutant, outcome });
    const head = `${index + 1}/${sample.length} ${outcome.kind.padEnd(9)} ${outcome.seconds.toFixed(0).padStart(4)} s`;
    console.log(
      `${head}  ${describe(mutant)}${outcome.by === "" ? "" : `\n      ${outcome.by.split("\n")[0]}`}`,
    );
  }
  await tools?.check.stop();
  return judged;
}

async function openTools(): Promise<Tools> {
  const { mayShare }: Pick<Tools, "mayShare"> = await import(join(ROOT, "scripts/test-processes.mjs"));
  const build = await makeBuild();
  if (args.effort.isWhole) await requireWhole(build.directory);
  return { build, check: await startStatementCheck(ROOT), mayShare };
}

async function main(): Promise<boolean> {
  const store = openCoverage(ROOT, args.tests);
  const server = await startTests();
  try {
    const { bundleServer } = await import(join(ROOT, "scripts/bundle.mjs"));
    process.env["TEST_BUNDLE"] = (await bundleServer()).directory;
    await completeBuild();
    const left = await store.collect(args.endMs);
    console.log(`coverage of ${store.known().length} test files is known, ${left} left`);
    if (args.isCoverage) return left === 0;
    if (left > 0) return false;
    const judged = await runSample(store);
    const survivors = judged.filter(({ outcome: { kind } }) => kind === "survived" || kind === "uncovered");
    console.log(`\nNot caught:\n${survivors.map(({ mutant }) => describe(mutant)).join("\n") || "none"}`);
    console.log(`\n${describeScores(judged)}`);
    console.log(`\n${judged.length} of the sample of ${sample.length} from ${all.length}; seed ${args.seed}`);
    return judged.length === sample.length && (scoreOf(judged) ?? 100) >= args.least;
  } finally {
    await server.stop();
  }
}

if (args.isList) printList();
else process.exitCode = (await main()) ? 0 : 1;
