import { readOptions, readOrExit } from "../tools/options.ts";
import { DIST } from "./dist-dir.ts";
import { plantBug, SIMULATED_PLANTS } from "./plants.ts";
import { loadServer } from "./server.ts";
import { simulate } from "./simulate.ts";
import { describeMet, describeRun, type Sweep, sweep } from "./sweep.ts";

const usage = `npm run simulate -- [options]

  --seeds n     how many runs, one seed after the other (default 1000)
  --from n      the first seed (default 1)
  --seed n      instead: this run alone, with the timeline of every task that broke a promise
  --plant name  with a bug put in, which must be found: ${SIMULATED_PLANTS.join(", ")}
`;

const SAY_EVERY = 1_000;

interface Arguments {
  readonly seed: number | null;
  readonly from: number;
  readonly seeds: number;
  readonly plant: string | null;
}

function readArguments(args: string[]): Arguments {
  const given = readOptions(args, { seeds: "text", from: "text", seed: "text", plant: "text" });
  const whole = { max: 2 ** 32 - 1, isWhole: true };
  return {
    seed: given.text("seed") === null ? null : given.number("seed", { initial: 1, ...whole }),
    from: given.number("from", { initial: 1, ...whole }),
    seeds: given.number("seeds", { initial: 1_000, ...whole }),
    plant: given.text("plant"),
  };
}

function summarize({ seeds, tasks, calls, faults, simulatedMs, failed }: Sweep, tookMs: number): string {
  const hours = (simulatedMs / 3_600_000).toFixed(1);
  return [
    `${seeds} seeds in ${(tookMs / 1000).toFixed(1)} s: ${tasks} tasks, ${calls} calls, ${faults} faults in ${hours} simulated hours`,
    failed.length === 0
      ? "0 violations"
      : `violations with the seeds ${failed.map(({ seed }) => seed).join(", ")}: npm run simulate -- --seed ${failed[0]?.seed}`,
  ].join("\n");
}

/** Whether all is as it should be: no promise broken, or, with a bug in it, one that the bug breaks. */
async function main({ seed, from, seeds, plant }: Arguments): Promise<boolean> {
  const planted = plant === null ? null : await plantBug(plant, DIST);
  const options = planted?.options ?? { server: await loadServer(DIST) };
  try {
    if (seed !== null) {
      const run = await simulate({ ...options, seed });
      const { answers, seen, faults, endedAt } = run.history;
      console.log(describeRun(run));
      console.log(
        `seed ${seed}: ${answers.length} requests, ${seen.length} calls, ${faults.length} faults in ${(endedAt / 1000).toFixed(1)} s; ${run.violations.length} violations`,
      );
      return run.violations.length === 0;
    }
    const beganMs = performance.now();
    const result = await sweep({
      ...options,
      from,
      seeds,
      mostFailed: planted === null ? 10 : 1,
      isFailed: ({ violations }) =>
        violations.some(({ promise }) => planted?.breaks.includes(promise) ?? true),
      onSeed: (done, isFailed) => {
        if (isFailed) console.log(`seed ${done} broke a promise`);
        else if (done % SAY_EVERY === 0) console.log(`seed ${done}`);
      },
    });
    console.log(describeMet(result));
    console.log(summarize(result, performance.now() - beganMs));
    return (result.failed.length === 0) === (planted === null);
  } finally {
    await planted?.remove();
  }
}

process.exitCode = (await main(readOrExit(usage, readArguments))) ? 0 : 1;
