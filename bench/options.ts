import { readOptions } from "../tools/options.ts";
import type { Options } from "./run-options.ts";
import { scenarios } from "./scenarios/catalog.ts";
import { subjects } from "./subjects/catalog.ts";

export const usualStarts = 7;
// With 2,000 the compiler of Node was still at work during the measurement; with 15,000 it is done.
const normal = { starts: 0, count: 20_000, warmUp: 15_000, warmUpRuns: 3, seconds: 10 };
// A look, in less than five minutes: enough to see that all of it works, too little for a figure to quote.
const quick = { starts: 2, count: 3_000, warmUp: 2_000, warmUpRuns: 1, seconds: 2 };

export const usage = `npm run bench -- [options]

  --quick            the light scenarios with few tasks and ${quick.starts} starts, in less than five minutes
  --scenario a,b     only these: ${scenarios.map(({ name }) => name).join(", ")}
  --only a,b         only these subjects: ${subjects.map(({ name }) => name).join(", ")}
  --check            end with exit code 1 where a goal is missed
  --grouped          give the peers the group commit of the skeleton, see bench/peers/README.md
  --json file        where to write everything that was measured (default: bench/results/<time>.json)
  --plot             draw the pictures of docs/performance.md from this run
  --docs a.json,b.json  run nothing: write the verdicts of these results into docs/performance.md
  --starts n         process starts of each variant (default ${usualStarts}; slots ${scenarios.find(({ name }) => name === "slots")?.starts}, the largest scenarios 1 or 3)
  --count n          tasks per throughput measurement (default ${normal.count})
  --warm-up n        tasks before it (default ${normal.warmUp})
  --warm-up-runs n   runs in which they are submitted (default ${normal.warmUpRuns})
  --seconds n        length of a latency measurement (default ${normal.seconds})
  --scale x          multiplies the rows of the large scenarios, between 0.001 and 1 (default 1)
`;

/** Throws an error that names the wrong option. */
export function parseOptions(args: string[]): Options {
  const given = readOptions(args, {
    starts: "text",
    count: "text",
    "warm-up": "text",
    "warm-up-runs": "text",
    seconds: "text",
    only: "text",
    scenario: "text",
    json: "text",
    scale: "text",
    docs: "text",
    quick: "flag",
    check: "flag",
    grouped: "flag",
    plot: "flag",
  });
  const defaults = given.flag("quick") ? quick : normal;
  const scale = given.number("scale", { initial: 1, max: 1 });
  if (scale < 0.001) throw new Error("--scale must be between 0.001 and 1");
  return {
    starts: given.number("starts", { initial: defaults.starts, max: 100, isWhole: true }),
    count: given.number("count", { initial: defaults.count, max: 1_000_000, isWhole: true }),
    warmUp: given.number("warm-up", { initial: defaults.warmUp, max: 1_000_000, isWhole: true }),
    warmUpRuns: given.number("warm-up-runs", { initial: defaults.warmUpRuns, max: 100, isWhole: true }),
    seconds: given.number("seconds", { initial: defaults.seconds, max: 600, isWhole: true }),
    only: given.names("only", namesOf(subjects)) ?? [],
    scenarios: given.names("scenario", namesOf(scenarios)) ?? [],
    quick: given.flag("quick"),
    check: given.flag("check"),
    grouped: given.flag("grouped"),
    json: given.text("json") ?? "",
    plot: given.flag("plot"),
    docs: given.text("docs")?.split(",") ?? [],
    scale,
    rows: (count) => Math.round(count * scale),
  };
}

function namesOf(list: readonly { readonly name: string }[]): string[] {
  return list.map(({ name }) => name);
}
