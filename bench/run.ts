import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot, stopAllProcesses } from "./child-process.ts";
import { compareSubjects } from "./comparison.ts";
import { watchIdle } from "./idle.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { formatComparison, formatMachine, formatSoak, formatStart, formatTenth } from "./report.ts";
import { soakSubject } from "./soak.ts";
import { subjects } from "./subjects/catalog.ts";

/** Returns the problems: what was lost or refused. */
async function runBench(options: Options): Promise<string[]> {
  const machine = describeMachine();
  console.log(`${formatMachine(machine)}\n`);
  const chosen = subjects.filter(({ name }) => options.only === "" || name === options.only);
  const single = subjects.find(({ name }) => name === (options.only || "bellhop"));

  if (options.soak > 0 && single !== undefined) {
    const soak = await soakSubject(single, options, (tenth) => console.log(formatTenth(tenth)));
    console.log(formatSoak(soak));
    save(machine, options, { soak });
    return soak.problems;
  }
  if (options.idle && single !== undefined) {
    const idle = await watchIdle(single, options);
    console.log(
      `${idle.subject} idle: ${idle.subjectPercent.toFixed(1)} % of a core, its PostgreSQL ${idle.postgresPercent.toFixed(1)} %, RSS ${idle.rssMb.toFixed(0)} MB`,
    );
    save(machine, options, { idle });
    return [];
  }
  const comparison = await compareSubjects(chosen, options, (start) => console.log(formatStart(start)));
  console.log(`\n${formatComparison(comparison)}`);
  save(machine, options, { comparison });
  return comparison.problems;
}

function save(machine: Machine, options: Options, results: Record<string, unknown>): void {
  const directory = join(repositoryRoot, "bench", "results");
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${new Date().toISOString().replaceAll(":", "-")}.json`);
  writeFileSync(file, `${JSON.stringify({ machine, options, ...results }, null, 2)}\n`);
  console.log(`\n${file}`);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void stopAllProcesses().then(() => process.exit(130)));
}

let options: Options | undefined;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exitCode = 2;
}
if (options !== undefined) {
  try {
    const problems = await runBench(options);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await stopAllProcesses();
  }
}
