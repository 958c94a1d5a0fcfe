import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { hashOf, idleRanges, isCurrent, type TestCoverage } from "./coverage.ts";
import { compiledTest, failureIn, runTestFile } from "./test-run.ts";

/** Larger than the slowest test file takes on a slow machine, with the recording. */
const TEST_SECONDS = 300;
/** One or two may fail on a busy machine. Without many, a sample would show little. */
const MOST_LEFT_OUT = 3;
const RECORDER = fileURLToPath(new URL("record-texts.mjs", import.meta.url));
const SERVER_SOURCES = "packages/server/src";
/** What can see a change of the server: the others try the tools, or start a server as a process of its own. */
const TEST_FOLDERS = ["packages/server/test", "simulation"];

/** Kept below `.build/mutants/coverage`. */
export interface CoverageStore {
  readonly tests: readonly string[];
  /** Those whose coverage is known and current. */
  known(): TestCoverage[];
  /** Of all statements that they send. */
  texts(): ReadonlyMap<string, string>;
  /** Runs those that are not, until the time is up. Returns how many are left. */
  collect(endMs: number): Promise<number>;
}

/** `only`: parts of the names of test files; all if there are none. */
export function openCoverage(root: string, only: readonly string[]): CoverageStore {
  const tree = join(root, ".build");
  const directory = join(tree, "mutants/coverage");
  const textsFile = join(tree, "mutants/texts.json");
  const tests = TEST_FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))),
  )
    .filter((name) => name.endsWith(".test.ts") && existsSync(join(tree, compiledTest(name))))
    .filter((name) => only.length === 0 || only.some((part) => name.includes(part)))
    .sort();

  const fileOf = (test: string) => join(directory, `${test}.json`);

  function read(test: string): TestCoverage | null {
    if (!existsSync(fileOf(test))) return null;
    const known: TestCoverage = JSON.parse(readFileSync(fileOf(test), "utf8"));
    return isCurrent(known, tree) ? known : null;
  }

  function texts(): Map<string, string> {
    return new Map(
      existsSync(textsFile) ? Object.entries<string>(JSON.parse(readFileSync(textsFile, "utf8"))) : [],
    );
  }

  async function collectOne(test: string): Promise<void> {
    const records = join(tree, "mutants/records");
    rmSync(records, { recursive: true, force: true });
    mkdirSync(records, { recursive: true });
    const beganMs = performance.now();
    const ran = await runTestFile({
      directory: root,
      entry: compiledTest(test),
      seconds: TEST_SECONDS,
      args: ["--import", RECORDER],
      env: { NODE_V8_COVERAGE: records, MUTANT_TEXTS: records },
    });
    const seconds = (performance.now() - beganMs) / 1000;
    const failure = failureIn(ran);
    // It would be said to catch every mutant.
    if (failure !== null) return console.log(`left out   ${test}: fails without a mutant (${failure})`);
    const sent = readTexts(records);
    const all = new Map([...texts(), ...sent.map((text) => [hashOf(text), text] as const)]);
    writeFileSync(textsFile, JSON.stringify(Object.fromEntries(all)));
    const coverage: TestCoverage = { test, seconds, ...readRuns(records, tree), texts: sent.map(hashOf) };
    mkdirSync(dirname(fileOf(test)), { recursive: true });
    writeFileSync(fileOf(test), JSON.stringify(coverage));
    console.log(`covered    ${test}: ${seconds.toFixed(1)} s, ${Object.keys(coverage.idle).length} files`);
  }

  return {
    tests,
    known: () => tests.flatMap((test) => read(test) ?? []),
    texts,
    async collect(endMs) {
      const open = tests.filter((test) => read(test) === null);
      for (const [index, test] of open.entries()) {
        if (performance.now() > endMs) return open.length - index;
        await collectOne(test);
      }
      const failed = open.filter((test) => read(test) === null).length;
      if (failed > MOST_LEFT_OUT)
        throw new Error(`${failed} test files fail without a mutant: mend the tests first`);
      return 0;
    },
  };
}

function readTexts(records: string): string[] {
  const files = readdirSync(records).filter((name) => name.startsWith("texts-"));
  return [
    ...new Set(files.flatMap((name): string[] => JSON.parse(readFileSync(join(records, name), "utf8")))),
  ];
}

type Script = { readonly url: string; readonly functions: Parameters<typeof idleRanges>[1][number] };

/** What the process of a test and its threads loaded and ran. */
function readRuns(records: string, tree: string): Pick<TestCoverage, "loaded" | "idle"> {
  const runs = new Map<string, Script["functions"][]>();
  for (const name of readdirSync(records).filter((each) => each.startsWith("coverage-"))) {
    const { result }: { result: readonly Script[] } = JSON.parse(readFileSync(join(records, name), "utf8"));
    for (const { url, functions } of result) {
      if (!url.startsWith("file://")) continue;
      const file = relative(tree, fileURLToPath(url.split("?")[0] ?? url));
      if (!file.startsWith("..")) runs.set(file, [...(runs.get(file) ?? []), functions]);
    }
  }
  const loaded = new Map<string, string>();
  const idle = new Map<string, readonly (readonly [number, number])[]>();
  for (const [file, functions] of runs) {
    const text = readFileSync(join(tree, file), "utf8");
    loaded.set(file, hashOf(text));
    if (file.startsWith(SERVER_SOURCES))
      idle.set(relative(SERVER_SOURCES, file).replace(/js$/, "ts"), idleRanges(text.length, functions));
  }
  return { loaded: Object.fromEntries(loaded), idle: Object.fromEntries(idle) };
}
